/**
 * The rows that a subscription with a snapshot starts with, from one committed state: the current row of each key, and every row above
 * the height `since`, so that an undo can be applied. A row has the data of the event that published it.
 */
import { finalizedHeight } from '../../domain/finality.ts';
import { parseReserves } from '../../domain/reserves.ts';
import { TRANSFER_KINDS, TRANSFER_STATUSES } from '../../domain/transfers.ts';
import type { TopicReader } from '../../infra/event-log/topic-reader.ts';
import { positionsOf } from '../../infra/postgres/stage-positions.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { conversionSource, type EventChain, reservesSource } from './events-of-record.ts';
import { priceSource } from './events-of-stamps.ts';
import { readProvisionalPrices } from './provisional-prices.ts';
import { type PushEvent, pushEvent, type UnplacedEvent } from './push-event.ts';
import { SubscriptionRefused } from './subscription-refused.ts';

export const SNAPSHOT_CHANNELS = ['prices', 'reserves', 'conversions'] as const;
export type SnapshotChannel = (typeof SNAPSHOT_CHANNELS)[number];

export interface SnapshotRow {
  /** Height of the block that the row comes from. */
  readonly height: number;
  readonly event: PushEvent;
}

/** The rows of a channel and chain, the lowest first. */
export interface SnapshotList {
  readonly channel: SnapshotChannel;
  readonly chain: string;
  /** Above this height every row is included; up to it, at most the newest row of each key. */
  readonly since: number;
  readonly rows: readonly SnapshotRow[];
}

/** Most rows of all lists together: one to ten megabytes. */
export const MOST_SNAPSHOT_ROWS = 20_000;
/** Most published price rows. If there are more, while a chain stands still, the oldest are omitted and `since` is higher. */
const MOST_PRICES = 8_000;

/** @throws SubscriptionRefused when there are more rows than a snapshot may have */
export async function readSnapshotLists(
  read: Snapshot,
  topics: Pick<TopicReader, 'read'>,
  chains: readonly EventChain[],
  channels: ReadonlySet<SnapshotChannel>,
): Promise<SnapshotList[]> {
  const lists: SnapshotList[] = [];
  for (const { name, finalityDepth } of chains) {
    const tip = read.state.derived.get(name)?.height;
    const since = tip === undefined ? 0 : finalizedHeight(tip, finalityDepth);
    if (channels.has('reserves')) lists.push(await readReserves(read, name, since));
    if (channels.has('conversions')) lists.push(await readConversions(read, name, since));
  }
  // Prices come last: reading the topic takes longest, and the rows read from Postgres before it stay valid.
  if (channels.has('prices')) lists.unshift(...(await readPrices(read, topics, chains)));
  const rows = lists.reduce((sum, list) => sum + list.rows.length, 0);
  if (rows > MOST_SNAPSHOT_ROWS) {
    const most = `a snapshot may have ${MOST_SNAPSHOT_ROWS} rows of all chains`;
    throw new SubscriptionRefused(
      'snapshot_too_large',
      '/snapshot',
      `${most}: subscribe to one channel, or read the REST interface`,
    );
  }
  return lists;
}

/** Rows have no place of their own in the stream. */
const NO_PLACE = { position: 0, index: 0 };

function rowOf(chain: string, topic: PushEvent['topic'], height: number, source: UnplacedEvent): SnapshotRow {
  return { height, event: pushEvent({ chain, topic, place: NO_PLACE, ...source }) };
}

const { text, number, bigint, boolean, choice, nullable } = columns;

/** `reserves` is JSON text. */
const readState = rowReader({
  currencyId: text,
  txid: text,
  flags: number,
  supply: bigint,
  reserves: text,
  height: number,
  time: bigint,
});

/** Versions that are valid at the end of their block: the current one, and those that ended (and thus may have begun) above $2. */
const VERSIONS = `v.chain = $1 AND v.to_height IS DISTINCT FROM v.from_height
  AND (v.to_height IS NULL OR v.to_height > $2)`;

const RESERVES_SQL = `SELECT v.currency_id AS "currencyId", v.txid, v.flags, v.supply, v.reserves, v.from_height AS height, b.time
  FROM currency_states v JOIN blocks b ON b.chain = v.chain AND b.height = v.from_height
  WHERE ${VERSIONS} AND jsonb_array_length(v.reserves) > 0
  ORDER BY v.from_height, v.tx_index, v.vout LIMIT ${MOST_SNAPSHOT_ROWS + 1}`;

async function readReserves(read: Snapshot, chain: string, since: number): Promise<SnapshotList> {
  const found = await read.rows(readState, RESERVES_SQL, [chain, since], true);
  const rows = found.map(({ height, time, reserves, ...state }) => {
    const around = { height, time: Number(time) };
    return rowOf(chain, 'facts', height, reservesSource({ ...state, reserves: parseReserves(reserves) }, around));
  });
  return { channel: 'reserves', chain, since, rows };
}

const readTransfer = rowReader({
  fromHeight: number,
  txid: text,
  vout: number,
  kind: choice(TRANSFER_KINDS),
  status: choice(TRANSFER_STATUSES),
  fromCurrencyId: nullable(text),
  toCurrencyId: text,
  viaCurrencyId: nullable(text),
  importCurrencyId: text,
  amountIn: bigint,
  conversionFee: bigint,
  amountOut: nullable(bigint),
  destination: nullable(text),
  source: nullable(text),
  importSystemId: nullable(text),
  sourceSystemId: nullable(text),
  requestHeight: number,
  requestTime: bigint,
  exportTxid: nullable(text),
  exportVout: nullable(number),
  exportIndex: nullable(number),
  importTxid: nullable(text),
  importHeight: nullable(number),
});

const PENDING = "v.status IN ('pending', 'exported')";
const CONVERSIONS_SQL = `SELECT v.from_height AS "fromHeight", v.txid, v.vout, v.kind, v.status,
    v.from_currency_id AS "fromCurrencyId", v.to_currency_id AS "toCurrencyId", v.via_currency_id AS "viaCurrencyId",
    v.import_currency_id AS "importCurrencyId", v.amount_in AS "amountIn", v.conversion_fee AS "conversionFee",
    v.amount_out AS "amountOut", v.destination, v.source, v.import_system_id AS "importSystemId",
    v.source_system_id AS "sourceSystemId", v.request_height AS "requestHeight", v.request_time AS "requestTime",
    v.export_txid AS "exportTxid", v.export_vout AS "exportVout", v.export_index AS "exportIndex",
    v.import_txid AS "importTxid", v.import_height AS "importHeight"
  FROM transfers v
  WHERE v.kind <> 'send' AND ((v.to_height IS NULL AND v.chain = $1 AND ${PENDING})
    OR (v.chain = $1 AND v.to_height > $2 AND v.to_height <> v.from_height AND (${PENDING} OR v.from_height > $2))
    OR (v.chain = $1 AND v.from_height > $2 AND v.to_height IS NULL AND NOT ${PENDING}))
  ORDER BY v.from_height, v.txid, v.vout LIMIT ${MOST_SNAPSHOT_ROWS + 1}`;

async function readConversions(read: Snapshot, chain: string, since: number): Promise<SnapshotList> {
  const found = await read.rows(readTransfer, CONVERSIONS_SQL, [chain, since], true);
  const rows = found.map(({ fromHeight, requestTime, ...transfer }) =>
    rowOf(chain, 'facts', fromHeight, conversionSource({ ...transfer, requestTime: Number(requestTime) })),
  );
  return { channel: 'conversions', chain, since, rows };
}

/** `isAbove`: whether the row is above tick `cut`, where every row is included. */
const readPrice = rowReader({
  currencyId: text,
  chain: text,
  height: number,
  time: bigint,
  tier: number,
  usdPrice: text,
  emaPrice: text,
  totalDepth: text,
  sourceBasketId: nullable(text),
  provisional: boolean,
  isAbove: boolean,
  cut: text,
});
const readTick = rowReader({ tick: text });
const readHeight = rowReader({ chain: text, height: number });
const readComplete = rowReader({ chain: text, position: bigint });

/** Postgres keeps the prices of this multiple of the finality depth: see pipeline/price/kept-prices.ts. */
const KEPT_DEPTHS = 2;

/**
 * The tick up to which no reorganisation undoes a tick: the oldest, over all chains, of the ticks of their newest final blocks; −1 while
 * a chain has none. At least the tick from which on Postgres keeps every row.
 */
const FINAL_TICK_SQL = `SELECT greatest(min(coalesce(t.tick, -1)), coalesce((SELECT tick FROM price_ticks
      WHERE chain = $3 AND height <= $4 ORDER BY height DESC LIMIT 1), -1))::text AS tick
  FROM unnest($1::text[], $2::int[]) AS final(chain, height)
  LEFT JOIN LATERAL (SELECT tick FROM price_ticks WHERE chain = final.chain AND height <= final.height
    ORDER BY height DESC LIMIT 1) t ON true`;
/**
 * A row is published if it differs from the one before. Up to the tick `cut`, only the newest row of each currency is included; `cut` is
 * $2, or a later tick if there are too many rows above $2.
 */
const PRICES_SQL = `WITH steps AS MATERIALIZED (
    SELECT *, (tier, usd_price, total_depth, source_basket) IS DISTINCT FROM
      (lag(tier) OVER w, lag(usd_price) OVER w, lag(total_depth) OVER w, lag(source_basket) OVER w) AS changed
    FROM prices WHERE generation = $1 WINDOW w AS (PARTITION BY currency_id ORDER BY tick)
  ), cut AS MATERIALIZED (
    SELECT greatest($2::bigint, coalesce((SELECT tick FROM steps WHERE changed AND tick > $2::bigint
      ORDER BY tick DESC OFFSET ${MOST_PRICES} LIMIT 1), -1)) AS tick
  ), chosen AS (
    (SELECT DISTINCT ON (currency_id) steps.* FROM steps, cut WHERE steps.tick <= cut.tick ORDER BY currency_id, steps.tick DESC)
    UNION ALL SELECT steps.* FROM steps, cut WHERE changed AND steps.tick > cut.tick
  )
  SELECT currency_id AS "currencyId", chain, height, time, tier, usd_price::text AS "usdPrice", ema_price::text AS "emaPrice",
    total_depth::text AS "totalDepth", source_basket AS "sourceBasketId",
    tick > (SELECT coalesce(max(tick), -1) FROM price_ticks) AS provisional, tick > (SELECT tick FROM cut) AS "isAbove",
    (SELECT tick FROM cut)::text AS cut
  FROM chosen ORDER BY tick, currency_id`;

const SINCE_SQL = `SELECT chain, height FROM unnest($1::text[]) AS wanted(chain)
  CROSS JOIN LATERAL (SELECT height FROM price_ticks WHERE chain = wanted.chain AND tick <= $2::bigint
    ORDER BY height DESC LIMIT 1) t`;

const COMPLETE_SQL = `SELECT chain, position FROM ${positionsOf('told_complete')}`;

/** A price belongs to no single chain: its row is listed under the chain whose block changed it, or stepped its average last. */
async function readPrices(
  read: Snapshot,
  topics: Pick<TopicReader, 'read'>,
  chains: readonly EventChain[],
): Promise<SnapshotList[]> {
  const finals = chains.map(({ name, finalityDepth }) => {
    return finalizedHeight(read.state.priced.get(name)?.height ?? 0, finalityDepth);
  });
  const [first] = chains;
  if (!first) return [];
  const kept = (read.state.priced.get(first.name)?.height ?? 0) - KEPT_DEPTHS * first.finalityDepth;
  const names = chains.map(({ name }) => name);
  const final = await read.row(readTick, FINAL_TICK_SQL, [names, finals, first.name, kept], true);
  const found = await read.rows(readPrice, PRICES_SQL, [read.state.generation, final?.tick ?? '-1'], true);
  const cut = found[0]?.cut ?? final?.tick ?? '-1';
  const heights = await read.rows(readHeight, SINCE_SQL, [names, cut], true);
  const complete = new Map(
    (await read.rows(readComplete, COMPLETE_SQL)).map(({ chain, position }) => [chain, Number(position)]),
  );
  const spans = names.map((chain) => {
    const through = read.state.published.get(chain) ?? -1;
    return { chain, after: complete.get(chain) ?? -1, through };
  });
  const beyond = await readProvisionalPrices(topics, spans);
  return chains.map(({ name: chain }) => {
    // Postgres keeps only the current version of provisional rows.
    const own = found.filter((row) => row.chain === chain && !(row.provisional && beyond));
    const rows = own.map(({ time, height, provisional, ...price }) =>
      rowOf(chain, 'stamps', height, priceSource(price, { height, time: Number(time), provisional })),
    );
    const ownBeyond = (beyond ?? []).filter((row) => row.chain === chain);
    rows.push(
      ...ownBeyond.map(({ height, price, ...at }) =>
        rowOf(chain, 'stamps', height, priceSource(price, { height, ...at })),
      ),
    );
    const below = own.findLast(({ isAbove }) => !isAbove)?.height ?? -1;
    const cutHeight = heights.find((of) => of.chain === chain)?.height ?? -1;
    const current = beyond ? -1 : (read.state.pricedAhead.get(chain)?.height ?? -1);
    return { channel: 'prices', chain, since: Math.max(below, cutHeight, current), rows };
  });
}
