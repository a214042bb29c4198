/** Strong validators made from the chain's state, so that a 304 needs no query. */
export function etagOf(tag: string): string {
  return `"${tag}"`;
}

/** Whether If-None-Match names the tag; a weak form of it counts (RFC 9110, 13.1.2). */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}
