/** How many rows a list has in all. */
import type { ApiContext } from '../api-context.ts';
import type { Snapshot } from '../state/snapshot.ts';

/** Blocks between two places up to which rows stay counted: a scan of all once in as many. */
const BLOCKS_A_SCAN = 1000;

export interface Counting {
  /** `SELECT count(*) FROM … WHERE …` */
  readonly sql: string;
  readonly values: readonly unknown[];
  /** As of Snapshot.rows. */
  readonly isOpenEnded?: boolean | undefined;
}

type Api = Pick<ApiContext, 'memo'>;

/** Counted once while the state of the chain, or of all chains where it is null, is the same. */
export function countRows(read: Snapshot, api: Api, chain: string | null, counting: Counting): Promise<number> {
  return counted(read, api, chain === null ? read.state.tag : read.state.chainTag(chain), counting);
}

/**
 * Of rows that stand at `height`, a column, of the chain, and that no later block makes or takes away: those up to a block that
 * is still there are not counted again.
 */
export async function countRowsByHeight(
  read: Snapshot,
  api: Api,
  chain: string,
  height: string,
  { sql, values, isOpenEnded }: Counting,
): Promise<number> {
  const tip = read.state.derived.get(chain)?.height ?? 0;
  const settled = tip - (tip % BLOCKS_A_SCAN);
  const part = (comparison: string) => ({
    sql: `${sql} AND ${height} ${comparison} $${values.length + 1}`,
    values: [...values, settled],
    isOpenEnded,
  });
  const [below, above] = await Promise.all([
    settledTag(read, api, chain, settled).then((tag) => counted(read, api, tag, part('<='))),
    countRows(read, api, chain, part('>')),
  ]);
  return below + above;
}

/** Changes with the block, and with what was made of it: a redrive may make something else. */
async function settledTag(read: Snapshot, api: Api, chain: string, height: number): Promise<string> {
  const hash = await api.memo.get(`hash ${chain} ${height}`, read.state.chainTag(chain), async () => {
    const sql = 'SELECT hash FROM blocks WHERE chain = $1 AND height = $2';
    return (await read.row<{ hash: string }>(sql, [chain, height]))?.hash;
  });
  return `${hash} ${read.state.redrives}`;
}

function counted(read: Snapshot, api: Api, tag: string, { sql, values, isOpenEnded }: Counting): Promise<number> {
  return api.memo.get(`${sql} ${JSON.stringify(values)}`, tag, async () =>
    Number((await read.row<{ count: bigint }>(sql, values, isOpenEnded))?.count ?? 0n),
  );
}
