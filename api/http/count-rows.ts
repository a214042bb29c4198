/** Counts all rows of a list. */
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { ApiContext } from '../api-context.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { hashAt } from './rewound-cursor.ts';

/** Rows are counted from the start only once in so many blocks; the count up to then is cached. */
const BLOCKS_A_SCAN = 1000;

const readCount = rowReader({ count: columns.bigint });
const readCounts = rowReader({ below: columns.bigint, all: columns.bigint });

interface Counting {
  /** SQL after FROM: `… WHERE …` */
  readonly rows: string;
  readonly values: readonly unknown[];
  /** As in Snapshot.rows; also true when Postgres needs the values to see that few rows match. */
  readonly isOpenEnded?: boolean;
}

type Api = Pick<ApiContext, 'memo'>;

/** Counts once for each state of the chain's facts, or of the whole service when `chain` is null. */
export function countRows(read: Snapshot, api: Api, chain: string | null, counting: Counting): Promise<number> {
  const tag = chain === null ? read.state.tag : read.state.factsTag(chain);
  return api.memo.get(keyOf(counting), tag, () => count(read, counting));
}

/**
 * Counts rows of the chain whose block is in the column `height` and which no later block adds or removes. While a counted block is still on
 * the chain, the rows up to it are not counted again.
 */
export function countRowsByHeight(
  read: Snapshot,
  api: Api,
  chain: string,
  height: string,
  counting: Counting,
): Promise<number> {
  const tip = read.state.derived.get(chain)?.height ?? 0;
  const settled = tip - (tip % BLOCKS_A_SCAN);
  const values = [...counting.values, settled];
  const place = `$${values.length}`;
  return api.memo.get(keyOf(counting), read.state.factsTag(chain), async () => {
    const tag = await settledTag(read, api, chain, settled);
    let all: number | null = null;
    const below = await api.memo.get(`${keyOf(counting)} up to ${settled}`, tag, async () => {
      const sql = `SELECT count(*) FILTER (WHERE ${height} <= ${place}) AS below, count(*) AS all FROM ${counting.rows}`;
      const row = await read.row(readCounts, sql, values, counting.isOpenEnded);
      all = Number(row?.all ?? 0n);
      return Number(row?.below ?? 0n);
    });
    return (
      all ?? below + (await count(read, { ...counting, rows: `${counting.rows} AND ${height} > ${place}`, values }))
    );
  });
}

const keyOf = ({ rows, values }: Counting) => `${rows} ${JSON.stringify(values)}`;

async function count(read: Snapshot, { rows, values, isOpenEnded }: Counting): Promise<number> {
  const row = await read.row(readCount, `SELECT count(*) FROM ${rows}`, values, isOpenEnded);
  return Number(row?.count ?? 0n);
}

/** A tag that changes when the block is replaced, or when a redrive may have changed its facts. */
async function settledTag(read: Snapshot, api: Api, chain: string, height: number): Promise<string> {
  const tag = read.state.factsTag(chain);
  const hash = await api.memo.get(`hash ${chain} ${height}`, tag, () => hashAt(read, chain, height));
  return `${hash} ${read.state.redrives}`;
}
