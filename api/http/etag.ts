/** Strong validators made from the chain's state, so that a 304 needs no query. Each compressed form has its own validator. */
import type { Encoding } from './compression.ts';

export function etagOf(tag: string, encoding: Encoding | null = null): string {
  return encoding === null ? `"${tag}"` : `"${tag}-${encoding}"`;
}

/**
 * Returns the validator of If-None-Match that matches the tag in any encoding, or null. A weak validator matches too, and `*` matches
 * if the answer exists (`isThere`; RFC 9110, 13.1.2).
 */
export function matchingEtag(ifNoneMatch: string, tag: string, isThere = true): string | null {
  if (ifNoneMatch === '') return null;
  if (ifNoneMatch.trim() === '*') return isThere ? etagOf(tag) : null;
  const known: readonly string[] = [etagOf(tag), etagOf(tag, 'br'), etagOf(tag, 'gzip')];
  const sent = ifNoneMatch.split(',').map((candidate) => candidate.trim().replace(/^W\//, ''));
  return sent.find((candidate) => known.includes(candidate)) ?? null;
}
