/** What an answer says of the caller's allowances: IETF RateLimit fields and the older X-RateLimit ones. */
import type { Standing } from './limiter.ts';

export interface NamedStanding extends Standing {
  readonly name: 'requests' | 'credits';
}

const WINDOW_S = 60;
const seconds = (milliseconds: number) => Math.min(WINDOW_S, Math.ceil(milliseconds / 1000));

/** Whole seconds of waiting after which the same may pass. */
export function retryAfterSeconds(retryMs: number): number {
  return Math.max(1, seconds(retryMs));
}

/** Structured fields (RFC 9651). The X-RateLimit fields tell of the allowance of which least is left. */
export function limitHeaders(standings: readonly NamedStanding[]): Record<string, string> {
  const [first, ...more] = standings;
  if (!first) return {};
  const tightest = more.reduce((least, other) => (other.remaining < least.remaining ? other : least), first);
  const policy = standings.map(({ name, allowance }) => `"${name}";q=${allowance};w=${WINDOW_S}`);
  const left = standings.map(({ name, remaining, resetMs }) => `"${name}";r=${remaining};t=${seconds(resetMs)}`);
  return {
    'RateLimit-Policy': policy.join(', '),
    RateLimit: left.join(', '),
    'X-RateLimit-Limit': String(tightest.allowance),
    'X-RateLimit-Remaining': String(tightest.remaining),
    'X-RateLimit-Reset': String(seconds(tightest.resetMs)),
  };
}
