/** Checks before every request: the caller's identity, its rights, the cost, and the remaining allowance. */
import { type Config, TIERS } from '../../schemas/config.ts';
import { ApiError } from '../http/api-error.ts';
import type { HeaderLines } from '../http/header-lines.ts';
import { memoize } from '../state/memoize.ts';
import { type Charge, createBills, type Identified, LEAST_CREDITS, type RequestCost, WRONG_KEY } from './bills.ts';
import type { KeyCache } from './key-cache.ts';
import type { ActiveKey } from './key-store.ts';
import { type AllowanceName, limitHeaders, retryAfterSeconds } from './limit-headers.ts';
import type { Limiter, LimiterDecision } from './limiter.ts';
import type { PriorityLane, WorkOwner } from './priority-lanes.ts';
import { isSession, KEY_PREFIX, readToken } from './tokens.ts';
import type { Refund, Usage } from './usage.ts';
import type { Refusal } from './usage-counts.ts';
import type { Visitor } from './visitor.ts';

/** Caller, with the active key or session that it presents, if any. */
export interface Caller extends Pick<Visitor, 'bearer'>, WorkOwner {
  readonly key: ActiveKey | null;
}

export interface CallCost {
  /** Requests a minute of a caller without a key. */
  readonly requests: number;
  readonly credits: number;
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
  /** The same for a body that is read to be refused: its wait is that of the whole call. */
  refusedWith(callCost: CallCost): Admission;
  /**
   * Charges the rest, unless the key has been revoked while the body came. Null: a store has to be asked first, and nothing more is
   * charged.
   */
  settleNow(callCost: CallCost): Admission | null;
  /** The same, asking the stores if needed. If the rest is refused, the entry cost is not refunded: the body has been read. */
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
  rpcNow(visitor: Visitor, template: string): CallAdmission | null;
  rpc(visitor: Visitor, template: string): Promise<CallAdmission>;
}

export interface GateOptions {
  readonly config: Pick<Config, 'tiers' | 'keylessRequestsPerMinute'>;
  readonly limiter: Limiter;
  readonly keys: Pick<KeyCache, 'known' | 'find'>;
  readonly usage: Pick<Usage, 'record'>;
}

const MEMOIZED = 10_000;

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

/** Each charge counts in the usage of its caller. */
function createAdmissions(usage: GateOptions['usage']) {
  /** `paid`: what is counted of it. Returns how the count is taken back. */
  function count({ counted, template, requests }: Charge, paid: number, refusal: Refusal | null): Refund {
    return counted ? usage.record(counted, template, { requests, credits: paid, refusal }) : nothing;
  }

  function countWhole(charge: Charge, verdict: LimiterDecision): Refund {
    if (!verdict.accepted) return count(charge, 0, limitOf(charge, verdict));
    return count(charge, charge.credits, charge.refusal?.code === 'tier_required' ? 'tier' : null);
  }

  return {
    admit: (charge: Charge, verdict: LimiterDecision): Admission =>
      admissionOf(charge, verdict, countWhole(charge, verdict)),
    /** The request is counted already; `cost` is the rest. */
    admitRest(charge: Charge, cost: number, verdict: LimiterDecision): Admission {
      const refund = count(charge, verdict.accepted ? cost : 0, verdict.accepted ? null : limitOf(charge, verdict));
      return admissionOf(charge, verdict, refund);
    },
  };
}

/** Calls whose cost depends on their bodies. */
function createEntrances(
  { limiter }: Pick<GateOptions, 'limiter'>,
  { knownCaller, findCaller }: ReturnType<typeof createCallers>,
  { billOfRpc }: ReturnType<typeof createBills>,
  { admit, admitRest }: ReturnType<typeof createAdmissions>,
) {
  /** `token`: that the caller presented. */
  return function entranceOf(first: Charge, token: string, entry: LimiterDecision): CallAdmission {
    const { caller: entrant, template } = first;
    const { visitor } = entrant;
    const entered = admit(first, entry);
    const costTo = ({ key }: Identified, { requests, credits }: CallCost) => (key ? credits : requests);

    /** The part `cost` of a call. */
    function billOf(caller: Identified, callCost: CallCost, cost: number): Charge {
      const bill = billOfRpc(caller, template, callCost.credits, cost, 0);
      const whole = costTo(caller, callCost);
      return { ...bill, demands: bill.demands.map((demand) => ({ ...demand, whole })) };
    }

    /** Null: the ledger has to be asked first. */
    function settledNow(caller: Identified, callCost: CallCost): Admission | null {
      const { charged } = entered;
      if (caller.key === null) return { ...admissionOf({ ...first, refusal: WRONG_KEY }, entry, nothing), charged };
      const cost = costTo(caller, callCost) - LEAST_CREDITS;
      const bill = billOf(caller, callCost, cost);
      if (cost <= 0) return { ...admissionOf(bill, entry, nothing), charged };
      const verdict = limiter.chargeNow(bill.demands);
      return verdict && settled(bill, cost, verdict);
    }

    async function settledLater(caller: Identified, callCost: CallCost): Promise<Admission> {
      const cost = costTo(caller, callCost) - LEAST_CREDITS;
      const bill = billOf(caller, callCost, cost);
      return settled(bill, cost, await limiter.charge(bill.demands));
    }

    function settled(bill: Charge, cost: number, rest: LimiterDecision): Admission {
      const { charged, ...admission } = admitRest(bill, cost, rest);
      return { ...admission, charged: both(entered.charged, charged) };
    }

    return {
      refused: entered.refusal ? entered : null,
      refusedWith(callCost) {
        if (entry.accepted || entrant.key === null) return entered;
        const bill = billOf(entrant, callCost, costTo(entrant, callCost));
        const { standings } = entry;
        return { ...entered, refusal: rateLimited(bill, { standings, retryMs: limiter.waitMs(bill.demands) }) };
      },
      settleNow(callCost) {
        const caller = knownCaller(visitor, token);
        return caller && settledNow(caller, callCost);
      },
      async settle(callCost) {
        const caller = knownCaller(visitor, token) ?? (await findCaller(visitor, token));
        return settledNow(caller, callCost) ?? settledLater(caller, callCost);
      },
      giveBack: () => entered.charged.giveBack(),
    };
  };
}

export function createGate({ config, limiter, keys, usage }: GateOptions): Gate {
  const callers = createCallers(keys);
  const { knownCaller, findCaller } = callers;
  const bills = createBills(config);
  const { billOfRest, billOfRpc } = bills;
  const admissions = createAdmissions(usage);
  const { admit } = admissions;
  const entranceOf = createEntrances({ limiter }, callers, bills, admissions);
  const entryCharge = (caller: Identified, template: string) =>
    billOfRpc(caller, template, LEAST_CREDITS, LEAST_CREDITS, 1);

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
    rpcNow(visitor, template) {
      const token = rpcTokenOf(visitor);
      const caller = knownCaller(visitor, token);
      if (!caller) return null;
      const pendingCharge = entryCharge(caller, template);
      const entry = limiter.chargeNow(pendingCharge.demands);
      return entry && entranceOf(pendingCharge, token, entry);
    },
    async rpc(visitor, template) {
      void visitor.network; // cannot be read later
      const token = rpcTokenOf(visitor);
      const caller = knownCaller(visitor, token) ?? (await findCaller(visitor, token));
      const pendingCharge = entryCharge(caller, template);
      return entranceOf(pendingCharge, token, await limiter.charge(pendingCharge.demands));
    },
  };
}

function admissionOf(charge: Charge, verdict: LimiterDecision, refund: Refund): Admission {
  return {
    caller: callerOf(charge),
    refusal: verdict.accepted ? charge.refusal : rateLimited(charge, verdict),
    headers: limitHeaders(charge.names, verdict.standings, charge.credits),
    charged: {
      giveBack() {
        verdict.giveBack();
        refund();
      },
    },
  };
}

/** The highest tier goes first. */
function callerOf({ caller: { visitor, key = null }, payer }: Charge): Caller {
  const lane: PriorityLane = key?.tier === TIERS.at(-1) ? 'priority' : 'standard';
  return { bearer: visitor.bearer, key, lane, payer };
}

/** A caller whose session has ended pays as without it; paths that need a session refuse it. */
function identified(visitor: Visitor, token: string, key: ActiveKey | null): Identified {
  return { visitor, key: key === null && isSession(token) ? undefined : key };
}

const nothing = () => undefined;

function both(entry: Admission['charged'], rest: Admission['charged']): Admission['charged'] {
  return {
    giveBack() {
      entry.giveBack();
      rest.giveBack();
    },
  };
}

/** The allowance that did not suffice; that of the identity where both did not. */
function limitOf({ names, demands }: Charge, { standings }: LimiterDecision): Refusal {
  const lacks = (index: number) => (standings[index]?.remaining ?? 0) < (demands[index]?.cost ?? 0);
  const lacking = names.filter((_, index) => lacks(index));
  return lacking.length > 0 && lacking.every((name) => name === 'key') ? 'key' : 'rate';
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

function rateLimited(
  { names, demands }: Charge,
  { standings, retryMs }: Pick<LimiterDecision, 'standings' | 'retryMs'>,
): ApiError {
  /** Networks of an IPv6 /48 follow on the allowances with names of their own. */
  const textOf = (index: number) => {
    const { allowance } = demands[index] ?? { allowance: 0 };
    const name = names[index];
    return name
      ? allowanceText(allowance, name)
      : `${allowance} ${names[index - names.length]} of the IPv6 /48 of this address`;
  };
  const never = demands.findIndex(({ allowance, cost, whole = cost }) => whole > allowance);
  if (never >= 0) {
    const { cost, whole = cost } = demands[never] ?? { cost: 0 };
    return new ApiError('rate_limited', `this costs ${whole}, more than the ${textOf(never)} in a minute`);
  }
  // Its owner may have lowered the key's credits since the caller was identified.
  if (retryMs === Number.POSITIVE_INFINITY) {
    return new ApiError('rate_limited', 'this costs more than an allowance has in a minute');
  }
  const retryAfter = retryAfterSeconds(retryMs);
  const beyond = standings.findIndex(({ remaining }, at) => at >= names.length && remaining < (demands[at]?.cost ?? 0));
  const allowances = beyond < 0 ? names.map((_, index) => textOf(index)).join(' and ') : textOf(beyond);
  return new ApiError('rate_limited', `more than ${allowances} in a minute: ask again in ${retryAfter} s`, {
    members: { retryAfter },
    headers: { 'Retry-After': String(retryAfter) },
  });
}

function allowanceText(allowance: number, name: AllowanceName): string {
  return name === 'key' ? `${allowance} credits of this key` : `${allowance} ${name}`;
}
