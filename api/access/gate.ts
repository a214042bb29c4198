/** Checks before every request: the caller's identity and rights, the cost, and the remaining allowance. */
import { type Config, TIERS } from '../../schemas/config.ts';
import { ApiError } from '../http/api-error.ts';
import type { HeaderLines } from '../http/header-lines.ts';
import { memoize } from '../state/memoize.ts';
import { type Charge, createBills, type Identified, LEAST_CREDITS, type RequestCost, WRONG_KEY } from './bills.ts';
import type { KeyCache } from './key-cache.ts';
import type { ActiveKey } from './key-store.ts';
import { type AllowanceName, limitHeaders, retryAfterSeconds } from './limit-headers.ts';
import type { AllowanceStatus, Limiter, LimiterDecision } from './limiter.ts';
import type { PriorityLane, WorkOwner } from './priority-lanes.ts';
import { isSession, KEY_PREFIX, readToken } from './tokens.ts';
import type { Refund, Usage } from './usage.ts';
import type { Refusal } from './usage-counts.ts';
import type { Visitor } from './visitor.ts';

/** A caller, with the active key or session that it presented, if any. */
export interface Caller extends Pick<Visitor, 'bearer'>, WorkOwner {
  readonly key: ActiveKey | null;
}

export interface CallCost {
  /** Requests to charge to the per-minute allowance of a caller without a key. */
  readonly requests: number;
  /** Credits to charge to a caller with a key. */
  readonly credits: number;
}

export interface Admission {
  readonly caller: Caller;
  /** Null if the request may be answered. */
  readonly refusal: ApiError | null;
  /** Headers for the response, refused or not. */
  readonly headers: HeaderLines;
  /** Give this back if the request fails through a fault of the service. */
  readonly charged: Pick<LimiterDecision, 'giveBack'>;
}

/** Admits a call whose cost depends on its body: the least possible cost is charged before the body is read. */
export interface CallAdmission {
  /** Null if the body may be read. */
  readonly refused: Admission | null;
  /** The refusal after the body was read: its Retry-After is that of the whole call. */
  refusedWith(callCost: CallCost): Admission;
  /** Charges the rest, unless the key was revoked while the body arrived. Returns null, charging nothing, if a store must be asked first. */
  settleNow(callCost: CallCost): Admission | null;
  /** As `settleNow`, but asks the stores if needed. A refusal does not refund the entry cost, because the body has been read. */
  settle(callCost: CallCost): Promise<Admission>;
  /** Refunds the entry cost if the service itself fails before the rest is settled. */
  giveBack(): void;
}

/**
 * Reads everything it needs from the visitor before its first await.
 * @throws LimitsUnavailable, or the error of Postgres if a key cannot be looked up
 */
export interface Gate {
  /** Returns null, charging nothing, if a store must be asked first. */
  restNow(visitor: Visitor, requestCost: RequestCost): Admission | null;
  rest(visitor: Visitor, requestCost: RequestCost): Promise<Admission>;
  /** A caller without a key pays only requests. Returns null for the same reason as `restNow`. */
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

/** Finds the callers behind the keys that visitors present. */
function createCallers(keys: GateOptions['keys']) {
  // Avoids a SHA-256 for every request of a client.
  const keyIn = memoize(readToken, MEMOIZED);
  /** Returns null if the key must be looked up. */
  function knownCaller(visitor: Visitor, token: string): Identified | null {
    if (token === '') return { visitor, key: undefined };
    const presented = keyIn(token);
    const key = presented && keys.known(presented);
    return key === undefined ? null : identified(visitor, token, key);
  }

  async function findCaller(visitor: Visitor, token: string): Promise<Identified> {
    if (token === '') return { visitor, key: undefined };
    const presented = keyIn(token);
    return identified(visitor, token, presented && (await keys.find(presented)));
  }

  return { knownCaller, findCaller };
}

/** Creates admissions, and counts each charge in the usage of its caller. */
function createAdmissions(usage: GateOptions['usage']) {
  /** Counts `paid` credits and returns a function that reverts them. */
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
    /** Admits the rest of a call whose request is already counted; `cost` is the rest. */
    admitRest(charge: Charge, cost: number, verdict: LimiterDecision): Admission {
      const refund = count(charge, verdict.accepted ? cost : 0, verdict.accepted ? null : limitOf(charge, verdict));
      return admissionOf(charge, verdict, refund);
    },
  };
}

/** Creates admissions of calls whose cost depends on their bodies. */
function createEntrances(
  { limiter }: Pick<GateOptions, 'limiter'>,
  { knownCaller, findCaller }: ReturnType<typeof createCallers>,
  { billOfRpc }: ReturnType<typeof createBills>,
  { admit, admitRest }: ReturnType<typeof createAdmissions>,
) {
  /** `token`: the token that the caller presented. */
  return function entranceOf(first: Charge, token: string, entry: LimiterDecision): CallAdmission {
    const { caller: entrant, template } = first;
    const { visitor } = entrant;
    const entered = admit(first, entry);
    const costTo = ({ key }: Identified, { requests, credits }: CallCost) => (key ? credits : requests);

    /** Returns the charge for the part `cost` of a call. */
    function billOf(caller: Identified, callCost: CallCost, cost: number): Charge {
      const bill = billOfRpc(caller, template, callCost.credits, cost, 0);
      const whole = costTo(caller, callCost);
      return { ...bill, demands: bill.demands.map((demand) => ({ ...demand, whole })) };
    }

    /** Returns null if the ledger must be asked first. */
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
        const caller = await findCaller(visitor, token);
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
      void visitor.network; // must be read before the first await
      const token = tokenOf(visitor);
      const pendingCharge = billOfRest(await findCaller(visitor, token), requestCost);
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
      void visitor.network; // must be read before the first await
      const token = rpcTokenOf(visitor);
      const pendingCharge = entryCharge(await findCaller(visitor, token), template);
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

/** Callers of the highest tier use the priority lane. */
function callerOf({ caller: { visitor, key = null }, payer }: Charge): Caller {
  const lane: PriorityLane = key?.tier === TIERS.at(-1) ? 'priority' : 'standard';
  return { bearer: visitor.bearer, key, lane, payer };
}

/** A caller whose session has ended is charged like one without a session; paths that need a session refuse it. */
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

function isShort(demand: Charge['demands'][number] | undefined, standing: AllowanceStatus | undefined): boolean {
  return (standing?.remaining ?? 0) < (demand?.cost ?? 0);
}

/** Returns 'key' if only the key's own allowance did not suffice, else 'rate': that of the identity did not. */
function limitOf({ names, demands }: Charge, { standings }: LimiterDecision): Refusal {
  const lacking = names.filter((_, index) => isShort(demands[index], standings[index]));
  return lacking.length > 0 && lacking.every((name) => name === 'key') ? 'key' : 'rate';
}

/** A session selects the identity whose paths are used; that identity pays, unless a key is sent too: then the key sets rights and payer. */
function tokenOf({ bearer, apiKey }: Visitor): string {
  return apiKey || bearer;
}

/** Ignores other credentials: JSON-RPC clients that were set up for a daemon may send those of the daemon. */
function rpcTokenOf(visitor: Visitor): string {
  const token = tokenOf(visitor);
  return token.startsWith(KEY_PREFIX) ? token : '';
}

function rateLimited(
  { names, demands }: Charge,
  { standings, retryMs }: Pick<LimiterDecision, 'standings' | 'retryMs'>,
): ApiError {
  /** The demands of the IPv6 /48 follow those that have names of their own. */
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
  // The owner may have lowered the key's credits since the caller was identified.
  if (retryMs === Number.POSITIVE_INFINITY) {
    return new ApiError('rate_limited', 'this costs more than an allowance has in a minute');
  }
  const retryAfter = retryAfterSeconds(retryMs);
  const lacks = (index: number) => isShort(demands[index], standings[index]);
  const beyond = demands.findIndex((_, index) => index >= names.length && lacks(index));
  const lacking = names.map((_, index) => index).filter(lacks);
  // The standings do not show what other processes have leased, so none of them may seem to be used up.
  const named = lacking.length > 0 ? lacking : [...names.keys()];
  const allowances = beyond < 0 ? named.map(textOf).join(' and ') : textOf(beyond);
  return new ApiError('rate_limited', `more than ${allowances} in a minute: ask again in ${retryAfter} s`, {
    members: { retryAfter },
    headers: { 'Retry-After': String(retryAfter) },
  });
}

function allowanceText(allowance: number, name: AllowanceName): string {
  return name === 'key' ? `${allowance} credits of this key` : `${allowance} ${name}`;
}
