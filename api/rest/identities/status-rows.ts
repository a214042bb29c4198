/** Identities of a chain by their status at its tip. */
import { IDENTITY_FLAGS } from '../../../domain/flags.ts';
import type { ApiContext } from '../../api-context.ts';
import { countRows, countRowsByHeight } from '../../http/count-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import type { IdentityStatus } from './identity-rows.ts';

const { LOCKED, REVOKED } = IDENTITY_FLAGS;
const CURRENT_ROWS = 'identities WHERE chain = $1 AND to_height IS NULL';
/** As identityStatus says, in the words of the indexes; $2 is the height. */
const CONDITIONS: Readonly<Record<IdentityStatus, string>> = {
  revoked: `flags & ${REVOKED} <> 0`,
  locked: `flags & ${REVOKED | LOCKED} = ${LOCKED}`,
  unlocking: `flags & ${REVOKED | LOCKED} = 0 AND timelock > 0 AND timelock >= $2`,
  unlocked: `flags & ${REVOKED | LOCKED} = 0 AND NOT (timelock > 0 AND timelock >= $2)`,
};

export interface IdentityRows {
  /** SQL after FROM. */
  readonly rows: string;
  readonly values: readonly unknown[];
  count(): Promise<number>;
}

/** All of them without a status. */
export function identityRows(
  read: Snapshot,
  api: ApiContext,
  chain: string,
  height: number,
  status: IdentityStatus | undefined,
): IdentityRows {
  const countAll = () => {
    const counting = { rows: CURRENT_ROWS, values: [chain], isOpenEnded: true };
    return countRowsByHeight(read, api, chain, 'registered_height', counting);
  };
  if (status === undefined) return { rows: CURRENT_ROWS, values: [chain], count: countAll };
  const of = (wanted: IdentityStatus) => {
    const condition = CONDITIONS[wanted];
    const values = condition.includes('$2') ? [chain, height] : [chain];
    return { rows: `${CURRENT_ROWS} AND ${condition}`, values };
  };
  const countOf = (wanted: IdentityStatus) => countRows(read, api, chain, of(wanted));
  // Nearly all are unlocked, so the few others are counted.
  const countUnlocked = async () => {
    const others = await Promise.all([countAll(), countOf('revoked'), countOf('locked'), countOf('unlocking')]);
    return others.reduce((rest, count) => rest - count);
  };
  return { ...of(status), count: status === 'unlocked' ? countUnlocked : () => countOf(status) };
}
