/** /api/oracle/prices/:id/history: the price at every block, or the last price of each interval, paged by cursor. */

import { SECONDS_PER_DAY } from '../../../domain/time.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, type RowRead, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import { INT32_MAX } from '../../../schemas/integers.ts';
import type { ApiContext } from '../../api-context.ts';
import { type Cursor, decodeCursor, encodeCursor } from '../../http/cursor.ts';
import { formatParameter, pathParameter, queryParameter } from '../../http/parameters.ts';
import { NUMBERS, refuseEmptyRange } from '../../http/ranges.ts';
import { cursorRewound, hashAt } from '../../http/rewound-cursor.ts';
import { stateRoute } from '../../http/route.ts';
import { decimal, isoTime } from '../../http/values.ts';
import { writtenHeight, writtenName } from '../../schema/json-schema.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import { findCurrency } from '../../state/find-currency.ts';
import { marksIn } from '../../state/marks.ts';
import { type PricedRows, pricedRows, provisionalMembers } from '../../state/priced-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { confidenceOf, defaultChain, PRICE } from './price-rows.ts';
import { oracleHistory, PRICE_INTERVALS } from './schema.ts';

export const idParameter = pathParameter(
  'i-address, qualified name, or name; a bridged currency also by its name without the suffix',
  writtenName,
);

type Interval = (typeof PRICE_INTERVALS)[number];

/** Length of an interval in seconds; the interval `block` has none because every row is one. */
const SPANS: Readonly<Record<Exclude<Interval, 'block'>, number>> = { '5m': 300, '1h': 3600, '1d': SECONDS_PER_DAY };
const SECONDS_PER_HOUR = 3600;
const MAX_TIME = INT32_MAX;
const DEFAULT_ROWS = 200;
const MAX_ROWS = 1000;

/** Rows at blocks of the default chain, which are the steps of the moving averages. Postgres keeps only the newest rows. */
const WINDOW = `currency_id = {id: String} AND tick >= {first: UInt64} AND chain = {chain: String}
    AND height BETWEEN {from: UInt32} AND {to: UInt32} AND time >= toDateTime({since: Int64}, 'UTC')`;
const COLUMNS = 'currency_id, tick, tier, usd_price, ema_price, total_depth, source_basket, baskets, height, time';
const ANSWERED = `currency_id, tier, usd_price, ema_price, total_depth, nullIf(source_basket, '') AS source_basket, baskets, height,
    toUnixTimestamp(time) AS time, toBool(tick > {tick: UInt64}) AS provisional`;
const blocksSql = (rows: PricedRows) =>
  `SELECT ${ANSWERED} FROM ${rows.newest(COLUMNS, WINDOW, '{rows: UInt32}')} AS found ORDER BY found.tick DESC`;
/** Block times may go back a little, so intervals are ordered by time and not by tick. */
function intervalsSql(rows: PricedRows): string {
  const before = `${WINDOW} AND time < toDateTime({before: Int64}, 'UTC')`;
  const ticks = `SELECT max(tick) FROM ${rows.of('prices', 'tick, time', before)}
    GROUP BY intDiv(toUnixTimestamp(time), {span: UInt32}) AS bucket ORDER BY bucket DESC LIMIT {rows: UInt32}`;
  return `SELECT ${ANSWERED} FROM ${rows.of('prices', COLUMNS, `currency_id = {id: String} AND tick IN (${ticks})`)} AS found
    ORDER BY intDiv(toUnixTimestamp(found.time), {span: UInt32}) DESC`;
}

interface HistoryWindow {
  /** Blocks of the default chain. */
  readonly from: number;
  readonly to: number;
  /** Seconds since the epoch. */
  readonly since: number;
  readonly rows: number;
}

const WHOLE = { from: 0, to: INT32_MAX, since: 0 };

const readHistory = rowReader({ ...PRICE, time: columns.number, provisional: columns.boolean });
type HistoryRecord = RowRead<typeof readHistory>;

/** Returns rows, newest first. `before` selects rows with an earlier block time, in seconds since the epoch. */
async function historyRows(
  api: ApiContext,
  rows: PricedRows,
  currencyId: string,
  window: HistoryWindow,
  intervals: { readonly span: number; readonly before: number } | null,
): Promise<HistoryRecord[]> {
  return api.clickhouse.rows(readHistory, intervals ? intervalsSql(rows) : blocksSql(rows), {
    ...rows.params,
    id: currencyId,
    first: (await rows.tickAt(window.since - 1)) ?? '0', // another chain may have a later tick of the same second
    chain: defaultChain(api),
    ...window,
    ...intervals,
  });
}

function historyAnswer(row: HistoryRecord, currencies: Currencies) {
  return {
    usdPrice: decimal(row.usd_price),
    blockHeight: row.height,
    basket: currencies.name(row.source_basket) ?? row.source_basket,
    confidence: confidenceOf(row, row.height),
    createdAt: isoTime(row.time),
    provisional: row.provisional,
  };
}

/** The newest final prices at each block of the default chain, up to the block `to`. */
export async function newestPrices(
  read: Snapshot,
  api: ApiContext,
  currencies: Currencies,
  currencyId: string,
  { rows, to = INT32_MAX }: { readonly rows: number; readonly to?: number | undefined },
) {
  const complete = await pricedRows(read, api, false);
  const found = await historyRows(api, complete, currencyId, { ...WHOLE, to, rows }, null);
  return found.map((row) => historyAnswer(row, currencies));
}

/** Content of a cursor: the place before which the next page starts, and the start time of a walk with `hours`. */
interface Place {
  /** A height; with intervals, the start of an interval in seconds. */
  readonly before: number;
  readonly since: number;
}

interface Walk {
  readonly list: string;
  readonly chain: string;
  /** Length of an interval in seconds; null for the interval `block`. */
  readonly span: number | null;
}

const readTime = rowReader(storedColumns(DEFINITIONS.block, ['time']));
const TIME_SQL = 'SELECT time FROM blocks WHERE chain = $1 AND height = $2';

const startOf = (time: number, span: number) => time - (time % span);

async function readPlace(read: Snapshot, { list, chain, span }: Walk, text: string): Promise<Place> {
  const cursor = decodeCursor(text, list, chain, ['integer', 'integer']);
  const [before, since] = cursor.key.map(Number) as [number, number];
  if ((await hashAt(read, chain, cursor.height)) === cursor.hash) return { before, since };
  throw await cursorRewound(read, cursor, async (height) => {
    if (span === null) return [height + 1, since];
    // Read the interval of the newest remaining block again, because some of its blocks may be gone.
    const row = await read.row(readTime, TIME_SQL, [chain, height]);
    return [startOf(Number(row?.time ?? 0n), span) + span, since];
  });
}

async function cursorAfter(read: Snapshot, { list, chain, span }: Walk, last: HistoryRecord, since: number) {
  const { height, time } = last;
  const hash = (await hashAt(read, chain, height)) ?? '';
  const cursor: Cursor = {
    list,
    chain,
    isBack: false,
    height,
    hash,
    key: [span === null ? height : startOf(time, span), since],
  };
  return encodeCursor(cursor);
}

const history = stateRoute({
  path: '/api/oracle/prices/:id/history',
  summary: 'Prices of a currency, newest first: at every block, or the last one of each interval',
  parameters: {
    id: idParameter,
    interval: queryParameter(
      'One row for each block of the default chain, or for each 5 minutes, hour or UTC day of block time that has a block',
      { type: 'string', enum: PRICE_INTERVALS, default: 'block' },
    ),
    from: queryParameter('First block of the default chain', writtenHeight),
    to: queryParameter('Last block of the default chain', writtenHeight),
    hours: queryParameter('Hours before the newest priced block; only without from and to', {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
    }),
    limit: queryParameter('Rows of an answer in JSON; more than 1,000 is served as 1,000. CSV and NDJSON have all', {
      type: 'integer',
      minimum: 1,
      default: DEFAULT_ROWS,
    }),
    provisional: queryParameter(
      'Include prices that may still be corrected, because a slower chain has not reached their time',
      {
        type: 'boolean',
        default: false,
      },
    ),
    cursor: queryParameter(
      'nextCursor of an answer: continues after its last row; keep the other parameters the same',
      {
        type: 'string',
        maxLength: 1000,
      },
    ),
    ...formatParameter,
  },
  response: oracleHistory,
  rows: { member: 'data', batch: { limit: MAX_ROWS } },
  weight: 2,
  cache: 'state',
  scope: 'all',
  async handler({ params, read, api }) {
    const currencies = await api.currencies.of(read);
    const chain = defaultChain(api);
    const { currencyId } = findCurrency(currencies, api, chain, params.id, 'id');
    const { from = 0, to = INT32_MAX } = params;
    refuseEmptyRange(NUMBERS, ['from', params.from], ['to', params.to]);
    const interval = params.interval as Interval;
    const span = interval === 'block' ? null : SPANS[interval];
    const walk: Walk = { list: `prices ${currencyId} ${interval}`, chain, span };
    const ranged = params.from !== undefined || params.to !== undefined;
    const priced = await pricedRows(read, api, params.provisional);
    const { pricedAhead, priced: complete } = read.state;
    const end = ((params.provisional && pricedAhead.get(chain)) || complete.get(chain))?.clock ?? 0;
    const reach = params.hours === undefined || ranged ? 0 : Math.max(0, end - params.hours * SECONDS_PER_HOUR);
    const place = params.cursor === undefined ? null : await readPlace(read, walk, params.cursor);
    const since = place?.since ?? reach;
    const limit = Math.min(params.limit, MAX_ROWS);
    const window = { from, to: place && span === null ? Math.min(to, place.before - 1) : to, since, rows: limit + 1 };
    const isOver = window.to < from; // the walk has passed its lowest block
    const rows = isOver
      ? []
      : await historyRows(
          api,
          priced,
          currencyId,
          window,
          span === null ? null : { span, before: place?.before ?? MAX_TIME },
        );
    const data = rows.slice(0, limit);
    const last = data.at(-1);
    const times = data.map(({ time }) => time);
    return {
      currencyId,
      interval,
      count: data.length,
      ...provisionalMembers(data.some(({ provisional }) => provisional) ? priced.provisionalSince(end) : null),
      marks: marksIn(api, Math.min(...times), Math.max(...times) + 1),
      data: data.map((row) => historyAnswer(row, currencies)),
      nextCursor: last && rows.length > limit ? await cursorAfter(read, walk, last, since) : null,
    };
  },
});

export const oracleHistoryRoutes = [history];
