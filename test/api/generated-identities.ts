/** A daemon of a made-up chain on which some identities have keys that a test holds. */

import { verifyIdentityMessage } from '../../recordings/player/verify-message.ts';
import { NATIVE } from '../generator/addresses.ts';
import { type ChainDaemon, startChainDaemon } from '../generator/chain-daemon.ts';
import { expiry, fund, NETWORK_FEE, payChange } from '../generator/funds.ts';
import { type GeneratedIdentity, type Identity, LOCKED, REVOKED } from '../generator/identity.ts';
import { makeCommitment, makeRegistration } from '../generator/identity-registration.ts';
import { isRootIdentity, updateIdentity } from '../generator/identity-updates.ts';
import { makePayment } from '../generator/payments.ts';
import { openDraft } from '../generator/transaction.ts';
import type { Maker, World } from '../generator/world.ts';
import {
  createSigningIdentity,
  type SigningIdentity,
  type SigningIdentityOptions,
} from '../support/recordings/player/signing-identity.ts';

export interface OwnIdentity {
  readonly address: string;
  /** Signs with the keys that the identity was given last. */
  sign(message: string): Promise<string>;
  readonly signer: SigningIdentity;
  /** Changes the identity with the next block. */
  change(to: 'new keys' | 'locked' | 'revoked'): void;
}

export interface IdentityDaemon extends ChainDaemon {
  readonly identities: readonly OwnIdentity[];
  /** Blocks that the daemon is behind its network. */
  behind: number;
  /** Number of signatures that the daemon has checked. */
  readonly verified: number;
}

const FLAGS = { locked: LOCKED, revoked: REVOKED } as const;
/** Blocks for which a locked identity stays locked. */
const DELAY = 1_000;
const ENOUGH_BLOCKS = 400;

/** @param wanted keys of each identity, and how many must sign */
export async function startIdentityDaemon(
  seed: number,
  wanted: readonly Pick<SigningIdentityOptions, 'keys' | 'minimum'>[],
): Promise<IdentityDaemon> {
  const own = new Map<Identity, { signer: SigningIdentity }>();
  const changes: { identity: Identity; state: (state: GeneratedIdentity) => GeneratedIdentity }[] = [];
  let verified = 0;
  let behind = 0;

  const keysOf = (identity: Identity, options: (typeof wanted)[number] = {}): SigningIdentity =>
    createSigningIdentity({ systemId: NATIVE, identityaddress: identity.address, ...options });

  function claim(identity: Identity, signer: SigningIdentity): void {
    own.set(identity, { signer });
    changes.push({
      identity,
      state: (state) => ({
        ...state,
        primaryAddresses: signer.primaryaddresses,
        minimumSignatures: signer.minimumsignatures,
      }),
    });
  }

  function update(world: World, identity: Identity, state: GeneratedIdentity): boolean {
    const draft = openDraft(world);
    if (!fund(world, draft, NETWORK_FEE)) return false;
    const { apply } = updateIdentity(world, draft, identity, state);
    payChange(world, draft);
    world.include(draft.finish({ expiryHeight: expiry(world), apply }));
    return true;
  }

  const makeOwn: Maker = (world) => {
    const free = world.identities.find((identity) => isRootIdentity(identity) && !own.has(identity));
    if (free && own.size < wanted.length) claim(free, keysOf(free, wanted[own.size]));
    for (const { identity, state } of changes.splice(0)) {
      if (!update(world, identity, state(identity.state))) changes.push({ identity, state });
    }
    return true;
  };

  const daemon = await startChainDaemon({
    seed,
    addresses: 20,
    transactions: 6,
    mix: { everyBlock: [makeOwn], makers: [makePayment, makeCommitment, makeRegistration] },
    methods: {
      getinfo: () => ({ blocks: daemon.height, longestchain: daemon.height + behind }),
      verifymessage([address, signature, message, checkLatest]) {
        verified += 1;
        const identity = [...own.keys()].find((one) => one.address === address);
        const keys = identity && {
          identityaddress: identity.address,
          primaryaddresses: identity.state.primaryAddresses,
          minimumsignatures: identity.state.minimumSignatures,
          flags: identity.state.flags,
        };
        const signer = {
          systemId: NATIVE,
          tip: daemon.height,
          keysAt: () => keys ?? null,
          checkLatest: checkLatest === true,
        };
        return verifyIdentityMessage(signer, Buffer.from(String(signature), 'base64'), String(message));
      },
    },
  });
  while (own.size < wanted.length || changes.length > 0) {
    if (daemon.height > ENOUGH_BLOCKS) throw new Error(`only ${own.size} identities in ${daemon.height} blocks`);
    daemon.grow(1);
  }

  const identities = [...own].map(
    ([identity, held]): OwnIdentity => ({
      address: identity.address,
      get signer() {
        return held.signer;
      },
      sign: (message) => held.signer.sign(message, daemon.height),
      change(to) {
        if (to === 'new keys') {
          held.signer = keysOf(identity);
          claim(identity, held.signer);
        } else {
          const timelock = to === 'locked' ? DELAY : 0;
          changes.push({ identity, state: (state) => ({ ...state, flags: state.flags | FLAGS[to], timelock }) });
        }
      },
    }),
  );

  const { url, hashAt, waiting, forget, grow, reorganise, stop } = daemon;
  return {
    url,
    hashAt,
    waiting,
    forget,
    grow,
    reorganise,
    stop,
    get height() {
      return daemon.height;
    },
    get hash() {
      return daemon.hash;
    },
    identities,
    get verified() {
      return verified;
    },
    get behind() {
      return behind;
    },
    set behind(blocks) {
      behind = blocks;
    },
  };
}
