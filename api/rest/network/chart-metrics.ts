/** Metrics of charts and the rows that each is computed from, by steps of UTC days or hours. */
import type { LosslessNumber } from 'lossless-json';
import { IS_TRADE_SQL } from '../../../domain/transfers.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import type { ApiContext } from '../../api-context.ts';
import { coins } from '../../http/values.ts';
import type { PricedRows } from '../../state/priced-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';

export const CHART_STEPS = ['day', 'hour'] as const;
export type ChartStep = (typeof CHART_STEPS)[number];

export interface ChartPoint {
  /** Start of the step, seconds since the epoch. */
  readonly timestamp: number;
  readonly value: number | LosslessNumber;
}

export interface ChartRange {
  readonly chains: readonly string[];
  readonly step: ChartStep;
  /** Start of the first step, seconds since the epoch. */
  readonly since: number;
}

const STARTS: Readonly<Record<ChartStep, string>> = { day: 'toStartOfDay', hour: 'toStartOfHour' };
const SINCE = 'chain IN {chains: Array(String)} AND time >= fromUnixTimestamp({since: UInt32})';
const DERIVED =
  'position <= transform(toString(chain), {chains: Array(String)}, {positions: Array(Int64)}, toInt64(-1))';
const of = (table: string) => `${table} WHERE ${SINCE} AND ${DERIVED}`;

interface Summed {
  readonly kind: 'sum' | 'mean';
  /** Whether a sum over several chains is meaningful. */
  readonly ofAll: boolean;
  readonly value: string;
  readonly from: (rows: PricedRows) => string;
  readonly print?: (value: string) => number | LosslessNumber;
}

/** Value of the blocks after `before` up to `last`; null when there is none. */
interface BetweenBlocks {
  readonly kind: 'between';
  readonly ofAll: false;
  readonly value: (before: BlockEnd, last: BlockEnd) => number | LosslessNumber | null;
}

interface BlockEnd {
  readonly height: number;
  /** Seconds. */
  readonly clock: number;
  readonly work: bigint;
  /** Satoshis. */
  readonly stake: bigint;
}

export const METRICS = {
  difficulty: { kind: 'mean', ofAll: false, value: 'avg(difficulty)', from: () => of('blocks') },
  transactions: { kind: 'sum', ofAll: true, value: 'sum(tx_count)', from: () => of('blocks') },
  conversions: {
    kind: 'sum',
    ofAll: true,
    value: 'count()',
    from: (rows) => rows.of('conversions', 'time', `${SINCE} AND ${IS_TRADE_SQL}`),
  },
  hashrate: {
    kind: 'between',
    ofAll: false,
    value: (before, last) =>
      last.clock > before.clock ? Number((last.work - before.work) / BigInt(last.clock - before.clock)) : null,
  },
  stakingSupply: {
    kind: 'between',
    ofAll: false,
    value: (before, last) => coins((last.stake - before.stake) / BigInt(last.height - before.height)),
  },
  stakers: { kind: 'sum', ofAll: true, value: 'uniqExact(address)', from: () => of('stakes') },
  blockTime: {
    kind: 'between',
    ofAll: false,
    value: (before, last) => (last.clock - before.clock) / (last.height - before.height),
  },
  identities: {
    kind: 'sum',
    ofAll: true,
    value: 'uniqExact(identity_address)',
    from: () => `${of('identity_updates')} AND kind = 'registered'`,
  },
  fees: {
    kind: 'sum',
    ofAll: false,
    value: 'sum(fees)',
    from: () => of('blocks'),
    print: (value) => coins(BigInt(value)),
  },
} as const satisfies Readonly<Record<string, Summed | BetweenBlocks>>;

export type Metric = keyof typeof METRICS;
export const CHART_METRICS = Object.keys(METRICS) as readonly Metric[];
export const METRICS_OF_ALL = CHART_METRICS.filter((metric) => METRICS[metric].ofAll);

const readPoint = rowReader({ timestamp: columns.number, value: columns.text });

/** The steps that have a value, oldest first. */
export async function chartPoints(
  read: Snapshot,
  api: ApiContext,
  rows: PricedRows,
  metric: Metric,
  range: ChartRange,
): Promise<ChartPoint[]> {
  const source: Summed | BetweenBlocks = METRICS[metric];
  const params = { ...rows.params, ...range, positions: positionsIn(read, range) };
  if (source.kind === 'between') return betweenBlocks(read, api, source, range, params);
  const { value, from, print = Number } = source;
  const sql = `SELECT toUnixTimestamp(begin) AS timestamp, toString(found) AS value FROM
    (SELECT ${STARTS[range.step]}(time) AS begin, ${value} AS found FROM ${from(rows)} GROUP BY begin ORDER BY begin)`;
  const found = await api.clickhouse.rows(readPoint, sql, params);
  return found.map((point) => ({ timestamp: point.timestamp, value: print(point.value) }));
}

const readStart = rowReader({ timestamp: columns.number });

/** Returns the start of the first step that has a block; null when none has. */
export async function firstStep(read: Snapshot, api: ApiContext, range: ChartRange): Promise<number | null> {
  const sql = `SELECT toUnixTimestamp(${STARTS[range.step]}(min(time))) AS timestamp FROM ${of('blocks')} HAVING count() > 0`;
  const [row] = await api.clickhouse.rows(readStart, sql, { ...range, positions: positionsIn(read, range) });
  return row?.timestamp ?? null;
}

const positionsIn = (read: Snapshot, { chains }: ChartRange) =>
  chains.map((chain) => read.state.derived.get(chain)?.position ?? -1);

/** First and last block of each step, plus a row with timestamp 0 for the last block before the first step. Clocks never go back. */
const endsSql = (
  step: ChartStep,
) => `SELECT toUnixTimestamp(${STARTS[step]}(clock)) AS timestamp, min(height) AS first, max(height) AS last
    FROM blocks WHERE chain IN {chains: Array(String)} AND clock >= fromUnixTimestamp({since: UInt32}) AND ${DERIVED}
    GROUP BY timestamp ORDER BY timestamp
  UNION ALL SELECT 0, max(height), max(height)
    FROM blocks WHERE chain IN {chains: Array(String)} AND clock < fromUnixTimestamp({since: UInt32}) AND ${DERIVED} HAVING count() > 0`;
const readEnds = rowReader({ timestamp: columns.number, first: columns.number, last: columns.number });
const WORK_SQL = 'SELECT height, clock, chain_work, chain_stake FROM blocks WHERE chain = $1 AND height = ANY($2)';

const readWork = rowReader({
  height: columns.number,
  clock: columns.bigint,
  /** Hex. */
  chain_work: columns.text,
  chain_stake: columns.text,
});

async function betweenBlocks(
  read: Snapshot,
  api: ApiContext,
  { value }: BetweenBlocks,
  { chains, step }: ChartRange,
  params: Readonly<Record<string, unknown>>,
): Promise<ChartPoint[]> {
  const ends = await api.clickhouse.rows(readEnds, endsSql(step), params);
  ends.sort((a, b) => a.timestamp - b.timestamp);
  const heights = [
    ...new Set(
      ends
        .slice(0, 1)
        .map(({ first }) => first)
        .concat(ends.map(({ last }) => last)),
    ),
  ];
  const records = await read.rows(readWork, WORK_SQL, [chains[0], heights]);
  const blocks = new Map(
    records.map(({ height, clock, chain_work: work, chain_stake: stake }): [number, BlockEnd] => [
      height,
      { height, clock: Number(clock), work: BigInt(`0x${work}`), stake: BigInt(`0x${stake}`) },
    ]),
  );
  return ends.flatMap(({ timestamp, first, last }, index) => {
    const [before, end] = [blocks.get(ends[index - 1]?.last ?? first), blocks.get(last)];
    if (timestamp === 0 || !before || !end || end.height <= before.height) return [];
    const found = value(before, end);
    return found === null ? [] : [{ timestamp, value: found }];
  });
}
