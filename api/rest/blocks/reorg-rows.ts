/** Stored rows of reorganisations, and the members that answers show of them. */
import { columns, type RowOf } from '../../../infra/row-reader.ts';
import type { ChainConfig } from '../../../schemas/config.ts';
import type { REORG_REASONS } from './schema.ts';

/** Columns of REORG_COLUMNS. */
export const REORG = {
  fork_height: columns.number,
  fork_hash: columns.text,
  /** Newest block before the rewind. */
  from_height: columns.number,
  seen_at: columns.nullable(columns.bigint),
};
type ReorgRecord = RowOf<typeof REORG>;

/** Blocks up to a height that were appended right after the rewind `r`, without a gap. They may have been removed since. */
export function blocksAfterRewind(upTo: string): string {
  const from = (
    table: string,
    canonical: boolean,
  ) => `SELECT height, hash, time, ${canonical} AS canonical FROM ${table}
    WHERE chain = r.chain AND height > r.height AND height <= ${upTo} AND position = r.position + height - r.height`;
  return `${from('blocks', true)} UNION ALL ${from('removed_blocks', false)}`;
}

/** Columns of a row `r` of reorgs. */
export const REORG_COLUMNS = `r.height AS fork_height, r.hash AS fork_hash, r.from_height,
  (SELECT time FROM (${blocksAfterRewind('r.height + 1')}) AS first) AS seen_at`;

type Reason = (typeof REORG_REASONS)[number];

export function reorgAnswer({ fork_height, fork_hash, from_height, seen_at }: ReorgRecord, chain: ChainConfig) {
  const depth = from_height - fork_height;
  const reason: Reason = depth > chain.finalityDepth ? 'accepted' : 'reorg';
  return {
    forkHeight: fork_height,
    forkHash: fork_hash,
    depth,
    seenAt: seen_at === null ? null : Number(seen_at),
    reason,
  };
}
