/** Identities of a chain by their status at its tip. */
import { type IdentityStatus, identityStatusSql } from '../../../domain/identity-status.ts';
import type { ApiContext } from '../../api-context.ts';
import { countRows, countRowsByHeight } from '../../http/count-rows.ts';
import { type HeightRange, heightCondition } from '../../http/height-range.ts';
import type { Snapshot } from '../../state/snapshot.ts';

const CURRENT_ROWS = 'identities WHERE chain = $1 AND to_height IS NULL';
const CONDITIONS = identityStatusSql('$2');

export interface IdentityRows {
  /** SQL after FROM. */
  readonly rows: string;
  readonly values: readonly unknown[];
  count(): Promise<number>;
}

interface IdentityFilter {
  readonly chain: string;
  /** Height at which the status is evaluated. */
  readonly tip: number;
  readonly status: IdentityStatus | undefined;
  /** Range of the registration heights. */
  readonly heights: HeightRange;
}

/** Without a status: all identities. */
export function identityRows(
  read: Snapshot,
  api: ApiContext,
  { chain, tip, status, heights }: IdentityFilter,
): IdentityRows {
  const having = (condition: string) => {
    const values: unknown[] = condition.includes('$2') ? [chain, tip] : [chain];
    return { rows: `${CURRENT_ROWS}${condition}${heightCondition(heights, 'registered_height', values)}`, values };
  };
  const countAll = () => countRowsByHeight(read, api, chain, 'registered_height', { ...having(''), isOpenEnded: true });
  if (status === undefined) return { ...having(''), count: countAll };
  const of = (wanted: IdentityStatus) => having(` AND ${CONDITIONS[wanted]}`);
  const countOf = (wanted: IdentityStatus) => countRows(read, api, chain, of(wanted));
  // Nearly all identities are unlocked, so count all of them and subtract the few others.
  const countUnlocked = async () => {
    const others = await Promise.all([countAll(), countOf('revoked'), countOf('locked'), countOf('unlocking')]);
    return others.reduce((rest, count) => rest - count);
  };
  return { ...of(status), count: status === 'unlocked' ? countUnlocked : () => countOf(status) };
}
