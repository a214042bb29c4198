/** How many rows a list has in all. */
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { ApiContext } from '../api-context.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { hashAt } from './rewound-cursor.ts';

/** Blocks between two places up to which rows stay counted: a scan of all once in as many. */
const BLOCKS_A_SCAN = 1000;

const readCount = rowReader({ count: columns.bigint });
const readCounts = rowReader({ below: columns.bigint, all: columns.bigint });

interface Counting {
  /** SQL after FROM: `… WHERE …` */
  readonly rows: string;
  readonly values: readonly unknown[];
  /** As in Snapshot.rows; also if only the values show Postgres that few rows match. */
  readonly isOpenEnded?: boolean;
}

type Api = Pick<ApiContext, 'memo'>;

/** Counted once while the state of the chain, or of all chains where it is null, is the same. */
export function countRows(read: Snapshot, api: Api, chain: string | null, counting: Counting): Promise<number> {
  const tag = chain === null ? read.state.tag : read.state.chainTag(chain);
  return api.memo.get(keyOf(counting), tag, () => count(read, counting));
}

/**
 * Counts rows of the chain that belong to `height`, a column, and that no later block adds or removes. Those up to a block that
 * is still there are not counted again.
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
  return api.memo.get(keyOf(counting), read.state.chainTag(chain), async () => {
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

/** Changes with the block and with its facts, which a redrive may change. */
async function settledTag(read: Snapshot, api: Api, chain: string, height: number): Promise<string> {
  const tag = read.state.chainTag(chain);
  const hash = await api.memo.get(`hash ${chain} ${height}`, tag, () => hashAt(read, chain, height));
  return `${hash} ${read.state.redrives}`;
}
