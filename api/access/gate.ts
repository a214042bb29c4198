/** What stands before every request: who asks, what it costs, and whether there is so much left. */
import type { Config } from '../../schemas/config.ts';
import { ApiError } from '../http/api-error.ts';
import { limitHeaders, type NamedStanding, retryAfterSeconds } from './limit-headers.ts';
import type { Demand, Limiter, Verdict } from './limiter.ts';
import type { Visitor } from './visitor.ts';

export interface Toll {
  /** Of a keyless caller's requests a minute. */
  readonly requests: number;
  readonly credits: number;
}

export interface Admission {
  /** Null when the request may be answered. */
  readonly refusal: ApiError | null;
  /** For the answer, refused or not. */
  readonly headers: Readonly<Record<string, string>>;
  /** The answer failed through our fault. */
  giveBack(): void;
}

/** @throws LimitsUnavailable */
export interface Gate {
  rest(visitor: Visitor, credits: number): Admission | Promise<Admission>;
  /** A keyless caller pays requests only. */
  rpc(visitor: Visitor, toll: Toll): Admission | Promise<Admission>;
}

export type GateConfig = Pick<Config, 'tiers' | 'keylessRequestsPerMinute'>;

type NamedDemand = Demand & Pick<NamedStanding, 'name'>;

export function createGate(limiter: Limiter, { tiers, keylessRequestsPerMinute }: GateConfig): Gate {
  const requestsOf = ({ network }: Visitor, cost: number): NamedDemand => ({
    name: 'requests',
    bucket: `requests ${network}`,
    allowance: keylessRequestsPerMinute,
    cost,
  });
  const creditsOf = ({ network }: Visitor, cost: number): NamedDemand => ({
    name: 'credits',
    bucket: `credits ${network}`,
    allowance: tiers.free.creditsPerMinute,
    cost,
  });

  function charge(demands: readonly NamedDemand[], credits: number): Admission | Promise<Admission> {
    const admit = (verdict: Verdict) => admission(demands, verdict, credits);
    const verdict = limiter.charge(demands);
    return verdict instanceof Promise ? verdict.then(admit) : admit(verdict);
  }

  return {
    rest: (visitor, credits) => charge([requestsOf(visitor, 1), creditsOf(visitor, credits)], credits),
    rpc: (visitor, toll) => charge([requestsOf(visitor, toll.requests)], toll.credits),
  };
}

function admission(demands: readonly NamedDemand[], verdict: Verdict, credits: number): Admission {
  const standings = verdict.standings.flatMap((standing, index): NamedStanding[] => {
    const demand = demands[index];
    return demand ? [{ ...standing, name: demand.name }] : [];
  });
  return {
    refusal: verdict.accepted ? null : rateLimited(standings, verdict.retryMs),
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
