/** What an answer says of the caller's allowances: IETF RateLimit fields and the older X-RateLimit ones. */
import type { HeaderLines } from '../http/header-lines.ts';
import type { Standing } from './limiter.ts';

export type AllowanceName = 'requests' | 'credits';

const WINDOW_S = 60;
const seconds = (milliseconds: number) => Math.min(WINDOW_S, Math.ceil(milliseconds / 1000));

/** Whole seconds of waiting after which the same may pass. */
export function retryAfterSeconds(retryMs: number): number {
  return Math.max(1, seconds(retryMs));
}

/** Structured fields (RFC 9651), nothing but numbers in them. The X-RateLimit fields tell of the allowance of which least is left. */
export function limitHeaders(
  names: readonly AllowanceName[],
  standings: readonly Standing[],
  cost: number,
): HeaderLines {
  let policy = '';
  let left = '';
  let tightest: Standing | undefined;
  for (const [index, standing] of standings.entries()) {
    const separator = index === 0 ? '' : ', ';
    policy += `${separator}"${names[index]}";q=${standing.allowance};w=${WINDOW_S}`;
    left += `${separator}"${names[index]}";r=${standing.remaining};t=${seconds(standing.resetMs)}`;
    if (tightest === undefined || standing.remaining < tightest.remaining) tightest = standing;
  }
  const lines =
    tightest === undefined
      ? ''
      : `\r\nRateLimit-Policy: ${policy}\r\nRateLimit: ${left}\r\nX-RateLimit-Limit: ${tightest.allowance}` +
        `\r\nX-RateLimit-Remaining: ${tightest.remaining}\r\nX-RateLimit-Reset: ${seconds(tightest.resetMs)}`;
  return `${lines}\r\nX-Credits-Cost: ${cost}` as HeaderLines;
}
