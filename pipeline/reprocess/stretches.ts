/** Divides the settled conversions of a generation into stretches of whole ticks. */
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { IS_SETTLED } from './stamping-sql.ts';

export interface Ticks {
  /** Both ends are inclusive. */
  readonly low: number;
  readonly high: number;
}

export interface Stretched extends Ticks {
  readonly generation: number;
  /** Conversions of a stretch, plus the remaining ones of its last tick. */
  readonly most: number;
}

const readLast = rowReader({ last: columns.text });

/** Returns stretches in order that cover `low` to `high` without gaps. */
export async function stretches(
  clickhouse: ClickHouse,
  { generation, low, high, most }: Stretched,
): Promise<readonly Ticks[]> {
  const rows = await clickhouse.rows(
    readLast,
    `SELECT arrayJoin(arrayDistinct(arrayFilter((tick, place) -> place % {most:UInt32} = 0,
       arraySort(groupArray(tick)) AS ticks, arrayEnumerate(ticks)))) AS last
     FROM conversions WHERE generation = {generation:UInt32} AND ${IS_SETTLED} AND tick BETWEEN {low:UInt64} AND {high:UInt64}
     ORDER BY last`,
    { generation, low, high, most },
  );
  const ends = rows.map(({ last }) => Number(last)).filter((last) => last < high);
  return [...ends, high].map((end, index) => ({ low: index === 0 ? low : (ends[index - 1] ?? 0) + 1, high: end }));
}
