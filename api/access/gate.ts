/** Checks before every request: the caller's identity, its rights, the cost, and the remaining allowance. */
import { type AccessTier, type Config, TIERS } from '../../schemas/config.ts';
import { ApiError } from '../http/api-error.ts';
import type { HeaderLines } from '../http/header-lines.ts';
import { memoize } from '../state/memoize.ts';
import type { KeyCache } from './key-cache.ts';
import { type ActiveKey, LOWEST_TIER } from './key-store.ts';
import { type AllowanceName, limitHeaders, retryAfterSeconds } from './limit-headers.ts';
import type { AllowanceDemand, AllowanceStatus, Limiter, LimiterDecision } from './limiter.ts';
import type { PriorityLane } from './priority-lanes.ts';
import { isSession, KEY_PREFIX, readToken } from './tokens.ts';
import type { Usage } from './usage.ts';
import type { Visitor } from './visitor.ts';

/** Caller, with the active key or session that it presents, if any. */
export interface Caller extends Pick<Visitor, 'bearer'> {
  readonly key: ActiveKey | null;
}

/** The highest tier goes first. */
export function laneOf({ key }: Pick<Caller, 'key'>): PriorityLane {
  return key?.tier === TIERS.at(-1) ? 'priority' : 'standard';
}

export interface CallCost {
  /** Requests a minute of a caller without a key. */
  readonly requests: number;
  readonly credits: number;
}

export interface RequestCost {
  readonly credits: number;
  /** 0 for charges while an answer is streamed; counts as a request of its own by default. */
  readonly requests?: 0;
  /** Lowest that may ask; null = without a key. */
  readonly tier: AccessTier | null;
  /** Paid by the network when a session asks: whoever uses up the credits of an identity must not keep it from revoking the key. */
  readonly ofAccount?: boolean | undefined;
}

export interface Admission {
  readonly caller: Caller;
  /** Null when the request may be answered. */
  readonly refusal: ApiError | null;
  /** For the answer, refused or not. */
  readonly headers: HeaderLines;
  /** To be given back when the answer fails through our fault. */
  readonly charged: Pick<LimiterDecision, 'giveBack'>;
}

/** Admits a call whose cost depends on its body: it pays the least possible cost before the body is read. */
export interface CallAdmission {
  /** Null when the body may be read. */
  readonly refused: Admission | null;
  /** Charges the rest. Null: a store has to be asked first, and nothing more is charged. */
  settleNow(callCost: CallCost): Admission | null;
  /** The same, asking the ledger if needed. If the rest is refused, the entry cost is not refunded: the body has been read. */
  settle(callCost: CallCost): Promise<Admission>;
  /** Returns the entrance fee when the service itself fails before settling the rest. */
  giveBack(): void;
}

/**
 * Whatever it needs of the visitor it reads before its first await.
 * @throws LimitsUnavailable, and what Postgres says when a key cannot be looked up
 */
export interface Gate {
  /** Null: a store has to be asked first, and nothing is charged. */
  restNow(visitor: Visitor, requestCost: RequestCost): Admission | null;
  rest(visitor: Visitor, requestCost: RequestCost): Promise<Admission>;
  /** A keyless caller pays requests only. Null for the same reason as `restNow`. */
  rpcNow(visitor: Visitor): CallAdmission | null;
  rpc(visitor: Visitor): Promise<CallAdmission>;
}

export interface GateOptions {
  readonly config: Pick<Config, 'tiers' | 'keylessRequestsPerMinute'>;
  readonly limiter: Limiter;
  readonly keys: Pick<KeyCache, 'known' | 'find'>;
  readonly usage: Pick<Usage, 'record'>;
}

const MEMOIZED = 10_000;

/** Charge for requests that are refused before any work. */
export const LEAST_CREDITS = 1;

const WRONG_KEY = new ApiError(
  'key_invalid',
  'the API key is wrong, was replaced or revoked, or its identity is revoked',
  {
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
);

/** Payer: `key` is undefined if none was presented, or a session that has ended, and null if the presented key is invalid. */
interface Identified {
  readonly visitor: Visitor;
  readonly key: ActiveKey | null | undefined;
}

/** The charge, and the headers that report it. */
interface Charge {
  readonly caller: Identified;
  readonly demands: readonly AllowanceDemand[];
  readonly names: readonly AllowanceName[];
  readonly credits: number;
  /** Although it can be paid. */
  readonly refusal: ApiError | null;
}

const NAMES_WITH_KEY: readonly AllowanceName[] = ['credits'];
const NAMES_OF_REST: readonly AllowanceName[] = ['requests', 'credits'];
const NAMES_OF_RPC: readonly AllowanceName[] = ['requests'];

/** The callers behind the keys that visitors present. */
function createCallers(keys: GateOptions['keys']) {
  // No SHA-256 at every request of a client.
  const keyIn = memoize(readToken, MEMOIZED);
  /** Null: its key has to be looked up. */
  function knownCaller(visitor: Visitor, token: string): Identified | null {
    if (token === '') return { visitor, key: undefined };
    const presented = keyIn(token);
    const key = presented && keys.known(presented);
    return key === undefined ? null : identified(visitor, token, key);
  }

  async function findCaller(visitor: Visitor, token: string): Promise<Identified> {
    const presented = keyIn(token);
    return identified(visitor, token, presented && (await keys.find(presented)));
  }

  return { knownCaller, findCaller };
}

/** Computes what a request costs and which allowances pay for it. */
function createBills({ tiers, keylessRequestsPerMinute }: GateOptions['config']) {
  // No name put together and hashed again that was there before.
  const requestsBucket = memoize((network) => `requests ${network}`, MEMOIZED);
  const creditsBucket = memoize((network) => `credits ${network}`, MEMOIZED);

  const requestsOf = ({ visitor }: Identified, cost: number): AllowanceDemand => ({
    bucket: requestsBucket(visitor.network),
    allowance: keylessRequestsPerMinute,
    cost,
  });

  const creditsOf = ({ visitor, key }: Identified, cost: number): AllowanceDemand => ({
    bucket: key ? key.account : creditsBucket(visitor.network),
    allowance: tiers[key?.tier ?? LOWEST_TIER].creditsPerMinute,
    cost,
  });

  function billOfRest(caller: Identified, requestCost: RequestCost): Charge {
    const { key } = caller;
    const refusal = key === null ? WRONG_KEY : tierRefusal(key, requestCost.tier);
    const credits = refusal ? Math.min(requestCost.credits, LEAST_CREDITS) : requestCost.credits;
    const payer = requestCost.ofAccount && key?.expiresAt ? { ...caller, key: undefined } : caller;
    // A path that costs no credits still costs the network one request, with or without a key.
    if (payer.key && credits > 0) {
      return { caller, names: NAMES_WITH_KEY, credits, refusal, demands: [creditsOf(payer, credits)] };
    }
    const demands = [requestsOf(caller, requestCost.requests ?? 1), creditsOf(payer, credits)];
    return { caller, names: NAMES_OF_REST, credits, refusal, demands };
  }

  function billOfRpc(caller: Identified, credits: number, cost: number): Charge {
    const { key } = caller;
    const names = key ? NAMES_WITH_KEY : NAMES_OF_RPC;
    const demands = [key ? creditsOf(caller, cost) : requestsOf(caller, cost)];
    return { caller, names, credits, refusal: key === null ? WRONG_KEY : null, demands };
  }

  return { billOfRest, billOfRpc };
}

export function createGate({ config, limiter, keys, usage }: GateOptions): Gate {
  const { knownCaller, findCaller } = createCallers(keys);
  const { billOfRest, billOfRpc } = createBills(config);
  const entryCharge = (caller: Identified) => billOfRpc(caller, LEAST_CREDITS, LEAST_CREDITS);

  /** `paid` stays paid although the rest is refused. */
  function admit(
    { caller: { visitor, key }, names, credits, refusal }: Charge,
    verdict: LimiterDecision,
    paid = 0,
  ): Admission {
    const { accepted, standings, retryMs } = verdict;
    if (key?.expiresAt === null) usage.record(key.id, accepted ? credits : paid, accepted);
    return {
      caller: { bearer: visitor.bearer, key: key ?? null },
      refusal: accepted ? refusal : rateLimited(names, standings, retryMs),
      headers: limitHeaders(names, standings, credits),
      charged: verdict,
    };
  }

  function entranceOf(first: Charge, entry: LimiterDecision): CallAdmission {
    const { caller } = first;
    const restOf = ({ requests, credits }: CallCost) => (caller.key ? credits : requests) - LEAST_CREDITS;
    const settled = (pendingCharge: Charge, rest: LimiterDecision) =>
      admit(pendingCharge, afterEntry(entry, rest), LEAST_CREDITS);
    const billOf = (callCost: CallCost) => billOfRpc(caller, callCost.credits, restOf(callCost));
    const settleNow = (callCost: CallCost): Admission | null => {
      const pendingCharge = billOf(callCost);
      if (restOf(callCost) <= 0) return admit(pendingCharge, entry);
      const verdict = limiter.chargeNow(pendingCharge.demands);
      return verdict && settled(pendingCharge, verdict);
    };
    return {
      refused: entry.accepted && !first.refusal ? null : admit(first, entry),
      settleNow,
      async settle(callCost) {
        const pendingCharge = billOf(callCost);
        return settleNow(callCost) ?? settled(pendingCharge, await limiter.charge(pendingCharge.demands));
      },
      giveBack: () => entry.giveBack(),
    };
  }

  return {
    restNow(visitor, requestCost) {
      const caller = knownCaller(visitor, tokenOf(visitor));
      if (!caller) return null;
      const pendingCharge = billOfRest(caller, requestCost);
      const verdict = limiter.chargeNow(pendingCharge.demands);
      return verdict && admit(pendingCharge, verdict);
    },
    async rest(visitor, requestCost) {
      void visitor.network; // cannot be read later
      const token = tokenOf(visitor);
      const pendingCharge = billOfRest(knownCaller(visitor, token) ?? (await findCaller(visitor, token)), requestCost);
      return admit(pendingCharge, await limiter.charge(pendingCharge.demands));
    },
    rpcNow(visitor) {
      const caller = knownCaller(visitor, rpcTokenOf(visitor));
      if (!caller) return null;
      const pendingCharge = entryCharge(caller);
      const entry = limiter.chargeNow(pendingCharge.demands);
      return entry && entranceOf(pendingCharge, entry);
    },
    async rpc(visitor) {
      void visitor.network; // cannot be read later
      const token = rpcTokenOf(visitor);
      const pendingCharge = entryCharge(knownCaller(visitor, token) ?? (await findCaller(visitor, token)));
      return entranceOf(pendingCharge, await limiter.charge(pendingCharge.demands));
    },
  };
}

/** A caller whose session has ended pays as without it; paths that need a session refuse it. */
function identified(visitor: Visitor, token: string, key: ActiveKey | null): Identified {
  return { visitor, key: key === null && isSession(token) ? undefined : key };
}

function afterEntry(entry: LimiterDecision, rest: LimiterDecision): LimiterDecision {
  return {
    accepted: rest.accepted,
    retryMs: rest.retryMs,
    standings: rest.standings,
    giveBack() {
      entry.giveBack();
      rest.giveBack();
    },
  };
}

/** A session says whose paths these are, and its identity pays; a key sent with it determines rights and payer instead. */
function tokenOf({ bearer, apiKey }: Visitor): string {
  return apiKey || bearer;
}

/** Credentials that a daemon's client was set up with are not meant for us. */
function rpcTokenOf(visitor: Visitor): string {
  const token = tokenOf(visitor);
  return token.startsWith(KEY_PREFIX) ? token : '';
}

function tierRefusal(key: ActiveKey | undefined, tier: AccessTier | null): ApiError | null {
  if (tier === null || (key && TIERS.indexOf(key.tier) >= TIERS.indexOf(tier))) return null;
  const had = key ? `one of the tier ${key.tier}` : 'neither';
  const needed = `this path needs a key or a session of the tier ${tier} or above; this request has ${had}`;
  return new ApiError('tier_required', needed);
}

function rateLimited(
  names: readonly AllowanceName[],
  standings: readonly AllowanceStatus[],
  retryMs: number,
): ApiError {
  const retryAfter = retryAfterSeconds(retryMs);
  const allowances = standings.map(({ allowance }, index) => `${allowance} ${names[index]}`).join(' and ');
  return new ApiError('rate_limited', `more than ${allowances} in a minute: ask again in ${retryAfter} s`, {
    members: { retryAfter },
    headers: { 'Retry-After': String(retryAfter) },
  });
}
