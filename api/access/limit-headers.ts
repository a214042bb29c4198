/** Headers about the caller's allowances: IETF RateLimit fields and the older X-RateLimit ones. */
import type { HeaderLines } from '../http/header-lines.ts';
import type { AllowanceStatus } from './limiter.ts';

/** `key`: credits of one key, which has an allowance of its own. */
export type AllowanceName = 'requests' | 'credits' | 'key';

const WINDOW_S = 60;
const seconds = (milliseconds: number) => Math.min(WINDOW_S, Math.ceil(milliseconds / 1000));

/** Whole seconds of waiting after which the same may pass: at most 61, or 121 where another process holds a part that it has not used. */
export function retryAfterSeconds(retryMs: number): number {
  return Math.max(1, Math.ceil(retryMs / 1000));
}

/** By allowance, of which there are as many as tiers; those of keys may be any. */
const quotas: Readonly<Record<Exclude<AllowanceName, 'key'>, Map<number, string>>> = {
  requests: new Map(),
  credits: new Map(),
};

function quotaOf(name: AllowanceName, allowance: number): string {
  const known = name === 'key' ? undefined : quotas[name].get(allowance);
  if (known !== undefined) return known;
  const quota = `"${name}";q=${allowance};w=${WINDOW_S}`;
  if (name !== 'key') quotas[name].set(allowance, quota);
  return quota;
}

/** Structured fields (RFC 9651) that contain only numbers. The X-RateLimit fields describe the allowance with the least left. */
export function limitHeaders(
  names: readonly AllowanceName[],
  standings: readonly AllowanceStatus[],
  cost: number,
): HeaderLines {
  let policy = '';
  let left = '';
  let tightest: AllowanceStatus | undefined;
  for (const [index, name] of names.entries()) {
    const standing = standings[index];
    if (!standing) continue;
    const separator = index === 0 ? '' : ', ';
    policy += `${separator}${quotaOf(name, standing.allowance)}`;
    left += `${separator}"${name}";r=${standing.remaining};t=${seconds(standing.resetMs)}`;
    if (tightest === undefined || standing.remaining < tightest.remaining) tightest = standing;
  }
  const lines =
    tightest === undefined
      ? ''
      : `\r\nRateLimit-Policy: ${policy}\r\nRateLimit: ${left}\r\nX-RateLimit-Limit: ${tightest.allowance}` +
        `\r\nX-RateLimit-Remaining: ${tightest.remaining}\r\nX-RateLimit-Reset: ${seconds(tightest.resetMs)}`;
  return `${lines}\r\nX-Credits-Cost: ${cost}` as HeaderLines;
}
