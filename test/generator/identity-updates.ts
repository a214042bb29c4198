/** Everything that can be changed about an identity. */
import { keyAddress, NATIVE } from './addresses.ts';
import { expiry, fund, NETWORK_FEE, payChange } from './funds.ts';
import {
  type GeneratedIdentity,
  type Identity,
  identityAddresses,
  identityObject,
  LOCKED,
  REVOKED,
} from './identity.ts';
import { contentMap, contentMultimap } from './identity-content.ts';
import { filler } from './print.ts';
import { identityScript } from './scripts.ts';
import { type Draft, openDraft, sha256 } from './transaction.ts';
import type { World } from './world.ts';

/** Returns the changed state; null when the daemon would refuse the change. */
type Change = (state: GeneratedIdentity, identity: Identity, world: World) => GeneratedIdentity | null;

const LONGEST_DELAY = 200;
/** Blocks until an update expires, from which its own dates are counted. */
const EXPIRY = 20;

/** The daemon drops content that an update does not carry. */
const bare = (state: GeneratedIdentity): GeneratedIdentity => ({ ...state, contentMultimap: '{}' });
const isLocked = ({ flags, timelock }: GeneratedIdentity, { height }: World): boolean =>
  (flags & LOCKED) !== 0 || timelock >= height;

const content: Change = (state, _, world) => ({ ...state, contentMultimap: contentMultimap(world) });

const map: Change = (state, _, world) => ({ ...bare(state), contentMap: contentMap(world) });

const keys: Change = (state, _, { random, addresses }) => {
  const count = 1 + random.below(Math.min(3, addresses));
  const owners = new Set(Array.from({ length: count }, () => keyAddress(random.below(addresses)).address));
  return { ...bare(state), primaryAddresses: [...owners], minimumSignatures: 1 + random.below(owners.size) };
};

const authorities: Change = (state, _, { random, identities }) => ({
  ...bare(state),
  revocationAuthority: random.pick(identities).address,
  recoveryAuthority: random.oneIn(2) ? random.pick(identities).address : state.recoveryAuthority,
});

const lock: Change = (state, _, world) => {
  const timelock = 1 + world.random.below(LONGEST_DELAY);
  return isLocked(state, world) ? null : { ...bare(state), flags: state.flags | LOCKED, timelock };
};

const unlock: Change = (state, _, { height }) =>
  state.flags & LOCKED
    ? { ...bare(state), flags: state.flags & ~LOCKED, timelock: state.timelock + height + EXPIRY }
    : null;

const lockUntil: Change = (state, _, world) =>
  isLocked(state, world)
    ? null
    : { ...bare(state), timelock: world.height + EXPIRY + 1 + world.random.below(LONGEST_DELAY) };

const revoke: Change = (state, { address }) =>
  state.recoveryAuthority === address
    ? null
    : { ...bare(state), flags: (state.flags | REVOKED) & ~LOCKED, timelock: 0 };

const recover: Change = (state, _, { random, addresses }) => ({
  ...bare(state),
  flags: state.flags & ~REVOKED,
  primaryAddresses: [keyAddress(random.below(addresses)).address],
  minimumSignatures: 1,
});

/** Only the case of Latin letters in a name may change. */
const rename: Change = (state) => {
  const swapped = state.name.replace(/[A-Za-z]/g, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
  return { ...bare(state), name: swapped };
};

const privacy: Change = (state, { address }) => ({
  ...bare(state),
  privateAddress: state.privateAddress === null ? `zs1${filler(sha256(address), 38).slice(0, 75)}` : null,
});

const nothing: Change = (state) => bare(state);

const CHANGES: readonly Change[] = [
  content,
  content,
  content,
  map,
  keys,
  authorities,
  lock,
  unlock,
  lockUntil,
  revoke,
  rename,
  privacy,
  nothing,
];

export function makeIdentityUpdate(world: World): boolean {
  const { random, identities } = world;
  if (identities.length === 0) return false;
  const identity = random.pick(identities);
  const change = identity.state.flags & REVOKED ? recover : random.pick(CHANGES);
  const state = change(identity.state, identity, world);
  const draft = openDraft(world);
  if (!state || !fund(world, draft, NETWORK_FEE)) return false;
  const { apply } = updateIdentity(world, draft, identity, state);
  payChange(world, draft);
  world.include(draft.finish({ expiryHeight: expiry(world), apply }), 'again');
  return true;
}

/** Replaces the identity's output by one with the new state. */
export function updateIdentity(
  world: World,
  draft: Draft,
  identity: Identity,
  state: GeneratedIdentity,
): { readonly apply: () => void } {
  const { address, parent } = identity;
  draft.spend(identity.coin);
  const script = identityScript(
    'identityprimary',
    identityObject(address, parent, state),
    identityAddresses(address, state),
  );
  const coin = draft.hold(0n, script);
  return {
    apply() {
      world.journal.set(identity, 'state', state);
      world.journal.set(identity, 'coin', coin);
    },
  };
}

export const isRootIdentity = ({ parent }: Identity): boolean => parent === NATIVE;
