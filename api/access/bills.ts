/** The bill of a request: its cost, the allowances that pay for it, and the usage record that counts it. */
import { type AccessTier, type Config, TIERS } from '../../schemas/config.ts';
import { ApiError } from '../http/api-error.ts';
import { memoize } from '../state/memoize.ts';
import { type ActiveKey, LOWEST_TIER } from './key-store.ts';
import type { AllowanceName } from './limit-headers.ts';
import type { AllowanceDemand } from './limiter.ts';
import { allocationOf, type Visitor } from './visitor.ts';

export interface RequestCost {
  /** Pattern of the route, never the requested path. */
  readonly template: string;
  readonly credits: number;
  /** 0 for charges while an answer is streamed; by default the charge counts as one request. */
  readonly requests?: 0;
  /** Lowest tier that may use the route; without it no key is needed. */
  readonly tier?: AccessTier | undefined;
  /** A session's request is paid by its network, so that a leaked key that uses up the identity's credits cannot block its revocation. */
  readonly ofAccount?: boolean | undefined;
}

/** Payer: `key` is undefined if the visitor presented none or a session that has ended, and null if the presented key is invalid. */
export interface Identified {
  readonly visitor: Visitor;
  readonly key: ActiveKey | null | undefined;
}

/** The charge, and the headers that report it. */
export interface Charge {
  readonly caller: Identified;
  readonly template: string;
  /** First the demands that the headers name, then those on the IPv6 /48 of the caller's network. */
  readonly demands: readonly AllowanceDemand[];
  readonly names: readonly AllowanceName[];
  /** The identity or network that takes turns for this work; for an IPv6 network, its /48. */
  readonly payer: string;
  /** The cost of the whole request, as reported in the headers. */
  readonly credits: number;
  /** Requests to add to the usage: 0 if this request is already counted. */
  readonly requests: number;
  /** The key or session whose usage counts the request; null if no identity pays for it. */
  readonly counted: ActiveKey | null;
  /** Why the request is refused even if the allowances suffice; null otherwise. */
  readonly refusal: ApiError | null;
}

/** Charge for requests that are refused before any work. */
export const LEAST_CREDITS = 1;

export const WRONG_KEY = new ApiError(
  'key_invalid',
  'the API key is wrong, was replaced or revoked, or its identity is revoked',
  {
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
);

const MEMOIZED = 10_000;
/** An IPv6 /48 has the allowances of this many networks: many customers may share a /48, or one customer may own all of it. */
const NETWORKS_OF_ALLOCATION = 64;
const NAMES_WITH_KEY: readonly AllowanceName[] = ['credits'];
const NAMES_WITH_LIMITED_KEY: readonly AllowanceName[] = ['credits', 'key'];
const NAMES_OF_REST: readonly AllowanceName[] = ['requests', 'credits'];
const NAMES_OF_RPC: readonly AllowanceName[] = ['requests'];

type Tiers = Config['tiers'];

/** Charges `cost` to the allowance that all keys and sessions of an identity share. */
export function demandOfIdentity(
  tiers: Tiers,
  { account, tier }: Pick<ActiveKey, 'account' | 'tier'>,
  cost: number,
): AllowanceDemand {
  return { bucket: account, allowance: tiers[tier].creditsPerMinute, cost };
}

/** Charges `cost` to the separate allowance of one key. */
export function demandOfKey(
  tiers: Tiers,
  { id, tier }: Pick<ActiveKey, 'id' | 'tier'>,
  creditsPerMinute: number,
  cost: number,
): AllowanceDemand {
  // The tier may have been lowered since the key was created.
  return { bucket: `key ${id}`, allowance: Math.min(creditsPerMinute, tiers[tier].creditsPerMinute), cost };
}

/** Computes what a request costs and which allowances pay for it. */
export function createBills({ tiers, keylessRequestsPerMinute }: Pick<Config, 'tiers' | 'keylessRequestsPerMinute'>) {
  // Memoized to avoid building and hashing the same name for every request.
  const requestsBucket = memoize((network) => `requests ${network}`, MEMOIZED);
  const creditsBucket = memoize((network) => `credits ${network}`, MEMOIZED);

  const requestsOf = ({ visitor }: Identified, cost: number): AllowanceDemand => ({
    bucket: requestsBucket(visitor.network),
    allowance: keylessRequestsPerMinute,
    cost,
  });

  const creditsOfNetwork = ({ visitor }: Identified, cost: number): AllowanceDemand => ({
    bucket: creditsBucket(visitor.network),
    allowance: tiers[LOWEST_TIER].creditsPerMinute,
    cost,
  });

  /** Adds to the demands of a network those of its IPv6 /48, if it has one. */
  function paidByNetwork({ visitor }: Identified, names: readonly AllowanceName[], own: readonly AllowanceDemand[]) {
    const allocation = allocationOf(visitor.network);
    if (allocation === null) return { names, demands: own, payer: visitor.network };
    const ofAllocation = own.map(({ allowance, cost }, index) => ({
      bucket: `${names[index]} ${allocation}`,
      allowance: allowance * NETWORKS_OF_ALLOCATION,
      cost,
      isShared: true as const,
    }));
    return { names, demands: [...own, ...ofAllocation], payer: allocation };
  }

  /** A key with its own allowance must satisfy both that allowance and the one of its identity. */
  function paidByKey(key: ActiveKey, cost: number) {
    const ofIdentity = demandOfIdentity(tiers, key, cost);
    const payer = key.account;
    if (key.creditsPerMinute === null) return { names: NAMES_WITH_KEY, demands: [ofIdentity], payer };
    const ofKey = demandOfKey(tiers, key, key.creditsPerMinute, cost);
    return { names: NAMES_WITH_LIMITED_KEY, demands: [ofIdentity, ofKey], payer };
  }

  function billOfRest(caller: Identified, requestCost: RequestCost): Charge {
    const { key } = caller;
    const { template } = requestCost;
    const refusal = key === null ? WRONG_KEY : tierRefusal(key, requestCost.tier);
    const credits = refusal ? Math.min(requestCost.credits, LEAST_CREDITS) : requestCost.credits;
    const payer = requestCost.ofAccount && key?.expiresAt ? null : (key ?? null);
    const requests = requestCost.requests ?? 1;
    const rest = { caller, template, credits, requests, refusal, counted: payer };
    if (payer && credits > 0) return { ...rest, ...paidByKey(payer, credits) };
    // A path that costs no credits still costs the network one request, with or without a key.
    const ofRequests = requestsOf(caller, requests);
    if (!payer) {
      return { ...rest, ...paidByNetwork(caller, NAMES_OF_REST, [ofRequests, creditsOfNetwork(caller, credits)]) };
    }
    const [, ...ofAllocation] = paidByNetwork(caller, NAMES_OF_RPC, [ofRequests]).demands;
    const demands = [ofRequests, demandOfIdentity(tiers, payer, credits), ...ofAllocation];
    return { ...rest, names: NAMES_OF_REST, demands, payer: payer.account };
  }

  /** `cost`: the part that is charged now; only the first part counts the request. */
  function billOfRpc(caller: Identified, template: string, credits: number, cost: number, requests: 0 | 1): Charge {
    const { key } = caller;
    const refusal = key === null ? WRONG_KEY : null;
    const rest = { caller, template, credits, requests, refusal, counted: key ?? null };
    if (key) return { ...rest, ...paidByKey(key, cost) };
    return { ...rest, ...paidByNetwork(caller, NAMES_OF_RPC, [requestsOf(caller, cost)]) };
  }

  return { billOfRest, billOfRpc };
}

function tierRefusal(key: ActiveKey | undefined, tier: AccessTier | undefined): ApiError | null {
  if (tier === undefined || (key && TIERS.indexOf(key.tier) >= TIERS.indexOf(tier))) return null;
  const had = key ? `one of the tier ${key.tier}` : 'neither';
  const needed = `this path needs a key or a session of the tier ${tier} or above; this request has ${had}`;
  return new ApiError('tier_required', needed);
}
