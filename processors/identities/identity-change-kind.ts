/** Kind of an update of an identity. */
import { IDENTITY_FLAGS } from '../../domain/flags.ts';
import type { IdentityChangeKind, IdentityFact } from '../../schemas/facts.ts';

const { ACTIVE_CURRENCY, LOCKED, REVOKED } = IDENTITY_FLAGS;

export type IdentityState = Pick<
  IdentityFact,
  'flags' | 'timelock' | 'revocationAuthority' | 'recoveryAuthority' | 'primaryAddresses' | 'minimumSignatures'
>;

/** `changed` has the names of the daemon's fields that differ. Returns the first kind that fits; `registered` without `before`. */
export function identityChangeKind(
  before: IdentityState | null,
  after: IdentityState,
  changed: ReadonlySet<string>,
): IdentityChangeKind {
  if (!before) return 'registered';
  const gained = (flag: number): boolean => (after.flags & flag) !== 0 && (before.flags & flag) === 0;
  const lost = (flag: number): boolean => (before.flags & flag) !== 0 && (after.flags & flag) === 0;
  const any = (...fields: string[]): boolean => fields.some((field) => changed.has(field));

  if (lost(REVOKED)) return 'recovered';
  if (gained(REVOKED)) return 'revoked';
  if (gained(LOCKED)) return 'locked';
  // Without the lock flag, before and after, `timelock` is the height up to which the identity is locked.
  const isDated = (before.flags & LOCKED) === 0 && (after.flags & LOCKED) === 0;
  if (isDated && after.timelock > before.timelock) return 'locked';
  // A height that has passed unlocks by itself: an update that only clears it afterwards unlocks nothing.
  if (lost(LOCKED)) return after.timelock > 0 ? 'unlock_requested' : 'unlocked';
  if (any('revocationauthority', 'recoveryauthority')) return 'authority_changed';
  if (any('primaryaddresses', 'minimumsignatures')) return 'keys_changed';
  if (gained(ACTIVE_CURRENCY)) return 'currency_defined';
  return any('contentmap', 'contentmultimap') ? 'content_updated' : 'other';
}
