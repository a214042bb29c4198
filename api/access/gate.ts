/** What stands before every request: who asks, whether it may, what it costs, and whether there is so much left. */
import { type Config, TIERS, type Tier } from '../../schemas/config.ts';
import { ApiError } from '../http/api-error.ts';
import type { HeaderLines } from '../http/header-lines.ts';
import { remembering } from '../remembering.ts';
import type { KeyCache } from './key-cache.ts';
import { type LivingKey, LOWEST_TIER } from './key-store.ts';
import type { Lane } from './lanes.ts';
import { type AllowanceName, limitHeaders, retryAfterSeconds } from './limit-headers.ts';
import type { Demand, Limiter, Standing, Verdict } from './limiter.ts';
import { isSession, KEY_PREFIX, readKey } from './tokens.ts';
import type { Usage } from './usage.ts';
import type { Visitor } from './visitor.ts';

/** Who asks: the living key that it presents, if any. */
export interface Caller extends Pick<Visitor, 'bearer'> {
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
  readonly headers: HeaderLines;
  /** To be given back when the answer fails through our fault. */
  readonly charged: Pick<Verdict, 'giveBack'>;
}

/** Admits a call whose cost only its body tells: it pays the least possible cost before the body is read. */
export interface Entrance {
  /** Null when the body may be read. */
  readonly refused: Admission | null;
  /** Charges the rest. When that is refused, what was paid to enter stays paid: the body has been read. */
  settle(toll: Toll): Admission | Promise<Admission>;
  /** Returns the entrance fee when the service itself fails before settling the rest. */
  giveBack(): void;
}

/** @throws LimitsUnavailable, and what Postgres says when a key cannot be looked up */
export interface Gate {
  /** Reads of the visitor what it needs before it answers. */
  rest(visitor: Visitor, fare: Fare): Admission | Promise<Admission>;
  /** A keyless caller pays requests only. */
  rpc(visitor: Visitor): Entrance | Promise<Entrance>;
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

/** Who is charged: `key` is undefined where none was presented, null where it is none. */
interface Identified {
  readonly visitor: Visitor;
  readonly key: LivingKey | null | undefined;
}

/** What is charged, and what is said of it. */
interface Bill {
  readonly caller: Identified;
  readonly names: readonly AllowanceName[];
  readonly credits: number;
  /** Although it can be paid. */
  readonly refusal: ApiError | null;
}

const NAMES_WITH_KEY: readonly AllowanceName[] = ['credits'];
const NAMES_OF_REST: readonly AllowanceName[] = ['requests', 'credits'];
const NAMES_OF_RPC: readonly AllowanceName[] = ['requests'];

export function createGate({ config, limiter, keys, usage }: GateOptions): Gate {
  const { tiers, keylessRequestsPerMinute } = config;

  // No SHA-256 at every request of a client.
  const keyIn = remembering(readKey, REMEMBERED);
  // Nor a name put together, and hashed, that was there before.
  const requestsBucket = remembering((network) => `requests ${network}`, REMEMBERED);
  const creditsBucket = remembering((network) => `credits ${network}`, REMEMBERED);

  function identify(visitor: Visitor, token: string): Identified | Promise<Identified> {
    if (token === '' || isSession(token)) return { visitor, key: undefined };
    const presented = keyIn(token);
    const found = presented && keys.find(presented);
    if (!(found instanceof Promise)) return { visitor, key: found };
    void visitor.network; // cannot be read any more when the key turns out to be none
    return found.then((key) => ({ visitor, key }));
  }

  const requestsOf = ({ visitor }: Identified, cost: number): Demand => ({
    bucket: requestsBucket(visitor.network),
    allowance: keylessRequestsPerMinute,
    cost,
  });

  const creditsOf = ({ visitor, key }: Identified, cost: number): Demand => ({
    bucket: key ? key.account : creditsBucket(visitor.network),
    allowance: tiers[key?.tier ?? LOWEST_TIER].creditsPerMinute,
    cost,
  });

  function charge(bill: Bill, demands: readonly Demand[]): Admission | Promise<Admission> {
    const verdict = limiter.charge(demands);
    return verdict instanceof Promise ? admitLater(bill, verdict) : admit(bill, verdict);
  }

  async function admitLater(bill: Bill, verdict: Promise<Verdict>): Promise<Admission> {
    return admit(bill, await verdict);
  }

  /** `paid` stays paid although the rest is refused. */
  function admit({ caller: { visitor, key }, names, credits, refusal }: Bill, verdict: Verdict, paid = 0): Admission {
    const { accepted, standings, retryMs } = verdict;
    if (key) usage.record(key.id, accepted ? credits : paid, accepted);
    return {
      caller: { bearer: visitor.bearer, key: key ?? null },
      refusal: accepted ? refusal : rateLimited(names, standings, retryMs),
      headers: limitHeaders(names, standings, credits),
      charged: verdict,
    };
  }

  function admitRest(caller: Identified, fare: Fare) {
    const { key } = caller;
    const refusal = key === null ? WRONG_KEY : tierRefusal(key, fare.tier);
    const credits = refusal ? Math.min(fare.credits, LEAST_CREDITS) : fare.credits;
    // A path that costs no credits still costs the network one request, with or without a key.
    if (key && credits > 0)
      return charge({ caller, names: NAMES_WITH_KEY, credits, refusal }, [creditsOf(caller, credits)]);
    const demands = [requestsOf(caller, fare.requests ?? 1), creditsOf(caller, credits)];
    return charge({ caller, names: NAMES_OF_REST, credits, refusal }, demands);
  }

  const rpcDemands = (caller: Identified, cost: number) => [
    caller.key ? creditsOf(caller, cost) : requestsOf(caller, cost),
  ];

  function enterRpc(caller: Identified): Entrance | Promise<Entrance> {
    const entry = limiter.charge(rpcDemands(caller, LEAST_CREDITS));
    return entry instanceof Promise ? entry.then((paid) => entrance(caller, paid)) : entrance(caller, entry);
  }

  function entrance(caller: Identified, entry: Verdict): Entrance {
    const names = caller.key ? NAMES_WITH_KEY : NAMES_OF_RPC;
    const bill = { caller, names, credits: LEAST_CREDITS, refusal: caller.key === null ? WRONG_KEY : null };
    if (!entry.accepted || bill.refusal) {
      const refused = admit(bill, entry);
      return { refused, settle: () => refused, giveBack: () => entry.giveBack() };
    }
    return {
      refused: null,
      settle({ requests, credits }) {
        const rest = (caller.key ? credits : requests) - LEAST_CREDITS;
        const whole = { ...bill, credits };
        if (rest <= 0) return admit(whole, entry);
        const verdict = limiter.charge(rpcDemands(caller, rest));
        const both = (second: Verdict) => admit(whole, afterEntry(entry, second), LEAST_CREDITS);
        return verdict instanceof Promise ? verdict.then(both) : both(verdict);
      },
      giveBack: () => entry.giveBack(),
    };
  }

  return {
    rest(visitor, fare) {
      const caller = identify(visitor, tokenOf(visitor));
      return caller instanceof Promise ? caller.then((known) => admitRest(known, fare)) : admitRest(caller, fare);
    },
    rpc(visitor) {
      // Credentials that a daemon's client was set up with are not meant for us.
      const token = tokenOf(visitor);
      const caller = identify(visitor, token.startsWith(KEY_PREFIX) ? token : '');
      return caller instanceof Promise ? caller.then(enterRpc) : enterRpc(caller);
    },
  };
}

function afterEntry(entry: Verdict, rest: Verdict): Verdict {
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

/** A session says whose paths these are; beside it a key still says what it may and who pays. */
function tokenOf({ bearer, apiKey }: Visitor): string {
  return apiKey || bearer;
}

function tierRefusal(key: LivingKey | undefined, tier: Tier | null): ApiError | null {
  if (tier === null || (key && TIERS.indexOf(key.tier) >= TIERS.indexOf(tier))) return null;
  const had = key ? `a key of the tier ${key.tier}` : 'no key';
  return new ApiError('tier_required', `this path needs a key of the tier ${tier} or above; this request has ${had}`);
}

function rateLimited(names: readonly AllowanceName[], standings: readonly Standing[], retryMs: number): ApiError {
  const retryAfter = retryAfterSeconds(retryMs);
  const allowances = standings.map(({ allowance }, index) => `${allowance} ${names[index]}`).join(' and ');
  return new ApiError('rate_limited', `more than ${allowances} in a minute: ask again in ${retryAfter} s`, {
    members: { retryAfter },
    headers: { 'Retry-After': String(retryAfter) },
  });
}
