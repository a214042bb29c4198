/** What stands before every request: who asks, whether it may, what it costs, and whether there is so much left. */
import type { Config, Tier } from '../../schemas/config.ts';
import { ApiError } from '../http/api-error.ts';
import { remembering } from '../remembering.ts';
import type { KeyCache } from './key-cache.ts';
import { type LivingKey, LOWEST_TIER, TIERS } from './key-store.ts';
import type { Lane } from './lanes.ts';
import { limitHeaders, type NamedStanding, retryAfterSeconds } from './limit-headers.ts';
import type { Demand, Limiter, Verdict } from './limiter.ts';
import { isSession, KEY_PREFIX, readKey } from './tokens.ts';
import type { Usage } from './usage.ts';
import { bearerOf, type Visitor } from './visitor.ts';

/** Who asks: somebody's network, and the key it presents, if any. */
export interface Caller extends Visitor {
  readonly key: LivingKey | null;
}

/** The highest tier goes first. */
export function laneOf({ key }: Pick<Caller, 'key'>): Lane {
  return key?.tier === TIERS.at(-1) ? 'priority' : 'standard';
}

export interface Toll {
  /** Of a keyless caller's requests a minute. */
  readonly requests: number;
  readonly credits: number;
}

export interface Fare {
  readonly credits: number;
  /** 0 for what is charged while an answer flows; a request of its own when it is not given. */
  readonly requests?: 0;
  /** Lowest that may ask; null = without a key. */
  readonly tier: Tier | null;
}

export interface Admission {
  readonly caller: Caller;
  /** Null when the request may be answered. */
  readonly refusal: ApiError | null;
  /** For the answer, refused or not. */
  readonly headers: Readonly<Record<string, string>>;
  /** The answer failed through our fault. */
  giveBack(): void;
}

/** @throws LimitsUnavailable, and what Postgres says when a key cannot be looked up */
export interface Gate {
  rest(visitor: Visitor, fare: Fare): Admission | Promise<Admission>;
  /** A keyless caller pays requests only. */
  rpc(visitor: Visitor, toll: Toll): Admission | Promise<Admission>;
}

export interface GateOptions {
  readonly config: Pick<Config, 'tiers' | 'keylessRequestsPerMinute'>;
  readonly limiter: Limiter;
  readonly keys: Pick<KeyCache, 'find'>;
  readonly usage: Pick<Usage, 'record'>;
}

const REMEMBERED = 10_000;

/** Of what is refused before any work. */
export const LEAST_CREDITS = 1;

const WRONG_KEY = new ApiError('key_invalid', 'the API key is wrong, was replaced or revoked, or its identity is', {
  headers: { 'WWW-Authenticate': 'Bearer' },
});

type NamedDemand = Demand & Pick<NamedStanding, 'name'>;
/** Whether a key was presented that is none. */
type Identified = Caller & { readonly wrongKey: boolean };

export function createGate({ config, limiter, keys, usage }: GateOptions): Gate {
  const { tiers, keylessRequestsPerMinute } = config;

  // No SHA-256 at every request of a client.
  const keyIn = remembering(readKey, REMEMBERED);

  function identify(visitor: Visitor, token: string): Identified | Promise<Identified> {
    const identified = (key: LivingKey | null, wrongKey: boolean) => ({ ...visitor, key, wrongKey });
    if (token === '' || isSession(token)) return identified(null, false);
    const presented = keyIn(token);
    const found = presented && keys.find(presented);
    if (found instanceof Promise) return found.then((key) => identified(key, key === null));
    return identified(found, found === null);
  }

  function requestsOf({ network }: Visitor, cost: number): NamedDemand {
    return { name: 'requests', bucket: `requests ${network}`, allowance: keylessRequestsPerMinute, cost };
  }

  function creditsOf({ key, network }: Caller, cost: number): NamedDemand {
    const bucket = key ? `identity ${key.identityAddress}` : `credits ${network}`;
    return { name: 'credits', bucket, allowance: tiers[key?.tier ?? LOWEST_TIER].creditsPerMinute, cost };
  }

  function charge(
    caller: Caller,
    demands: readonly NamedDemand[],
    credits: number,
    refusal: ApiError | null,
  ): Admission | Promise<Admission> {
    const admit = (verdict: Verdict): Admission => {
      if (caller.key) usage.record(caller.key.id, credits, verdict.accepted);
      return admission(caller, demands, verdict, credits, refusal);
    };
    const verdict = limiter.charge(demands);
    return verdict instanceof Promise ? verdict.then(admit) : admit(verdict);
  }

  function admitRest(caller: Identified, fare: Fare) {
    const refusal = caller.wrongKey ? WRONG_KEY : tierRefusal(caller.key, fare.tier);
    const credits = refusal ? Math.min(fare.credits, LEAST_CREDITS) : fare.credits;
    const demands = [...(caller.key ? [] : [requestsOf(caller, fare.requests ?? 1)]), creditsOf(caller, credits)];
    return charge(caller, demands, credits, refusal);
  }

  function admitRpc(caller: Identified, toll: Toll) {
    const { requests, credits } = caller.wrongKey ? { requests: 1, credits: LEAST_CREDITS } : toll;
    const demands = caller.key ? [creditsOf(caller, credits)] : [requestsOf(caller, requests)];
    return charge(caller, demands, credits, caller.wrongKey ? WRONG_KEY : null);
  }

  return {
    rest(visitor, fare) {
      const caller = identify(visitor, tokenOf(visitor));
      return caller instanceof Promise ? caller.then((known) => admitRest(known, fare)) : admitRest(caller, fare);
    },
    rpc(visitor, toll) {
      // Credentials that a daemon's client was set up with are not meant for us.
      const token = tokenOf(visitor);
      const caller = identify(visitor, token.startsWith(KEY_PREFIX) ? token : '');
      return caller instanceof Promise ? caller.then((known) => admitRpc(known, toll)) : admitRpc(caller, toll);
    },
  };
}

/** A session says whose paths these are; beside it a key still says what it may and who pays. */
function tokenOf(visitor: Visitor): string {
  const bearer = bearerOf(visitor);
  return visitor.apiKey !== '' && (bearer === '' || isSession(bearer)) ? visitor.apiKey : bearer;
}

function tierRefusal(key: LivingKey | null, tier: Tier | null): ApiError | null {
  if (tier === null || (key && TIERS.indexOf(key.tier) >= TIERS.indexOf(tier))) return null;
  const had = key ? `a key of the tier ${key.tier}` : 'no key';
  return new ApiError('tier_required', `this path needs a key of the tier ${tier} or above; this request has ${had}`);
}

function admission(
  caller: Caller,
  demands: readonly NamedDemand[],
  verdict: Verdict,
  credits: number,
  refusal: ApiError | null,
): Admission {
  const standings = verdict.standings.flatMap((standing, index): NamedStanding[] => {
    const demand = demands[index];
    return demand ? [{ ...standing, name: demand.name }] : [];
  });
  return {
    caller,
    refusal: verdict.accepted ? refusal : rateLimited(standings, verdict.retryMs),
    headers: { ...limitHeaders(standings), 'X-Credits-Cost': String(credits) },
    giveBack: verdict.giveBack,
  };
}

function rateLimited(standings: readonly NamedStanding[], retryMs: number): ApiError {
  const retryAfter = retryAfterSeconds(retryMs);
  const allowances = standings.map(({ name, allowance }) => `${allowance} ${name}`).join(' and ');
  return new ApiError('rate_limited', `more than ${allowances} in a minute: ask again in ${retryAfter} s`, {
    members: { retryAfter },
    headers: { 'Retry-After': String(retryAfter) },
  });
}
