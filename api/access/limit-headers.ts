/** Headers that report the caller's allowances: the IETF RateLimit fields and the older X-RateLimit ones. */
import type { HeaderLines } from '../http/header-lines.ts';
import type { AllowanceStatus } from './limiter.ts';

/** `key`: credits of a single key that has its own allowance. */
export type AllowanceName = 'requests' | 'credits' | 'key';

const WINDOW_S = 60;
const seconds = (milliseconds: number) => Math.min(WINDOW_S, Math.ceil(milliseconds / 1000));

/** Returns the whole seconds after which the same request may pass: at most 61, or 121 if another process has an unused lease. */
export function retryAfterSeconds(retryMs: number): number {
  return Math.max(1, Math.ceil(retryMs / 1000));
}

/** Cached by allowance, of which there are only as many as tiers; not for keys, whose allowances are arbitrary. */
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
