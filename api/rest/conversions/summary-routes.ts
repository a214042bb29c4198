/** /api/conversions/summary: count of the conversions that match a filter, and the value of the trades among them, in all and by day. */
import { SECONDS_PER_DAY, utcDate } from '../../../domain/time.ts';
import { IS_TRADE_SQL } from '../../../domain/transfers.ts';
import type { ApiContext } from '../../api-context.ts';
import { chainParameter, formatParameter, queryParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { feesOf, parseUsd, printUsd, type Usd } from '../../http/usd.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { resolveAddress } from '../../state/addresses.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { tipHeight } from '../../state/tip-height.ts';
import {
  type ClosedConversions,
  closedConversions,
  readSums,
  type SumsRecord,
  sumClosed,
} from './closed-conversions.ts';
import { armsOf, type ConversionFilter, conversionFilter, filterParameters } from './conversion-filters.ts';
import { conversionsSql } from './conversion-rows.ts';
import { conversionSummary } from './schema.ts';
import { amongConfigured } from './transfer-ends.ts';

interface Sums {
  readonly count: number;
  readonly valued: number;
  /** Value of the trades among them; these pay the fees. */
  readonly volume: Usd;
}

const NOTHING: Sums = { count: 0, valued: 0, volume: 0n };

function added(sums: Sums, { count, valued, volume }: SumsRecord): Sums {
  return {
    count: sums.count + Number(count),
    valued: sums.valued + Number(valued),
    volume: sums.volume + parseUsd(volume),
  };
}

/** The volume counts a trade only on the chain that executes it, although the chain of its request shows it too. */
const sumsSql = (rows: string) => `SELECT (import_time / ${SECONDS_PER_DAY})::integer AS day, count(*)::text AS count,
    (count(*) FILTER (WHERE usd_value IS NOT NULL AND status = 'completed'))::text AS valued,
    coalesce(sum(usd_value) FILTER (WHERE ${IS_TRADE_SQL} AND import_chain = chain), 0)::text AS volume
  FROM (${conversionsSql({ rows: `(${rows})` })}) AS shown GROUP BY 1`;

/** Sums closed days in ClickHouse and everything else in Postgres, with the same split as the list. */
async function sumsOf(
  read: Snapshot,
  api: ApiContext,
  filter: ConversionFilter,
  closed: ClosedConversions | null,
): Promise<SumsRecord[]> {
  const open: SumsRecord[] = await read.rows(
    readSums,
    amongConfigured(read.state, sumsSql(armsOf(filter, closed).join(' UNION ALL '))),
    filter.values,
    true,
  );
  return closed ? [...open, ...(await sumClosed(api, closed))] : open;
}

const answerOf = ({ count, valued, volume }: Sums) => ({
  count,
  valued,
  volume: printUsd(volume),
  fees: printUsd(feesOf(volume)),
});

const summary = stateRoute({
  path: '/api/conversions/summary',
  summary: 'Count, volume and fees of the conversions that match a filter, in all and by day',
  parameters: {
    chain: chainParameter,
    address: queryParameter('Source or destination', writtenName),
    ...filterParameters,
    ...formatParameter,
  },
  response: conversionSummary,
  rows: { member: 'days' },
  weight: 2,
  cache: 'state',
  scope: 'all',
  async handler({ params, read, api }) {
    const { chain } = params;
    tipHeight(read, chain);
    const address = params.address === undefined ? null : resolveAddress(api.chain(chain), params.address, 'address');
    const currencies = await api.currencies.of(read);
    const { generation } = read.state;
    const filter = conversionFilter({ chain, generation, filters: params, address }, currencies, api);
    const closed = filter.whenSettled && (await closedConversions(read, api, chain, filter.whenSettled));
    const days = new Map<number | null, Sums>();
    let all = NOTHING;
    for (const row of await sumsOf(read, api, filter, closed)) {
      all = added(all, row);
      days.set(row.day, added(days.get(row.day) ?? NOTHING, row));
    }
    const inOrder = [...days]
      .flatMap(([day, sums]) => (day === null ? [] : [{ day, sums }]))
      .sort((a, b) => a.day - b.day);
    return {
      chain,
      ...answerOf(all),
      days: inOrder.map(({ day, sums }) => {
        return { date: utcDate(day * SECONDS_PER_DAY), ...answerOf(sums) };
      }),
    };
  },
});

export const conversionSummaryRoutes = [summary];
