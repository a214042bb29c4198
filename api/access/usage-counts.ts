/** Usage counts that are not written yet: one per minute, payer and route, so there are few. */
import { getOrInsert } from '../../domain/get-or-insert.ts';
import type { ActiveKey, KeyOwner } from './key-store.ts';

/** Why a request was refused: the identity's allowance, the key's allowance, or the tier is too small. */
export type Refusal = 'rate' | 'key' | 'tier';

/** Replaces the id of every session, because that id is the digest of its token. */
const SESSION_ID = 'session';

export type Payer = Pick<ActiveKey, 'id' | 'chain' | 'identityAddress' | 'account' | 'expiresAt'>;

export interface UsageCount extends KeyOwner {
  readonly keyId: string;
  readonly route: string;
  /** Seconds since the epoch. */
  readonly minute: number;
  requests: number;
  credits: number;
  rate: number;
  key: number;
  tier: number;
  /** Milliseconds since the epoch. */
  lastAt: number;
}

export interface UsageCounts {
  /** Returns the count to add to; `minute` is in seconds since the epoch. */
  of(payer: Payer, route: string, minute: number): UsageCount;
  /** Returns all counts and removes them. */
  take(): UsageCount[];
}

type OfMinute = Map<string, Map<string, UsageCount>>;

export function createUsageCounts(): UsageCounts {
  let counts = new Map<number, OfMinute>();
  return {
    of(payer, route, minute) {
      const isKey = payer.expiresAt === null;
      const ofMinute = getOrInsert(counts, minute, (): OfMinute => new Map());
      const ofPayer = getOrInsert(ofMinute, isKey ? payer.id : payer.account, () => new Map<string, UsageCount>());
      return getOrInsert(ofPayer, route, () => newCount(payer, isKey ? payer.id : SESSION_ID, route, minute));
    },
    take() {
      const taken = [...counts.values()].flatMap((ofMinute) =>
        [...ofMinute.values()].flatMap((ofPayer) => [...ofPayer.values()]),
      );
      counts = new Map();
      return taken;
    },
  };
}

function newCount({ chain, identityAddress }: Payer, keyId: string, route: string, minute: number): UsageCount {
  const none = { requests: 0, credits: 0, rate: 0, key: 0, tier: 0, lastAt: 0 };
  return { chain, identityAddress, keyId, route, minute, ...none };
}
