/** Requests about an identity; some identities have more updates than one answer takes. */
import { call, orFirstPage } from './calls.ts';

const CHANGES = '/api/identity/{nameOrId}/changes';
/** The maximum that the API allows. */
const PAGE_SIZE = '200';

/** All updates, or the newest page where there are too many. An address that names a page belongs to such an identity. */
export function updatesOf(chain: string, name: string, query: URLSearchParams) {
  const path = { nameOrId: name };
  if (placeInUpdates(query) !== null) return call(CHANGES, { path, query: { chain, pageSize: PAGE_SIZE } });
  return orFirstPage(call(CHANGES, { path, query: { chain } }), PAGE_SIZE);
}

export function partOfIdentity(chain: string, name: string, query: URLSearchParams) {
  const path = { nameOrId: name };
  switch (query.get('tab')) {
    case 'content':
      return call('/api/identity/{nameOrId}/multimap', { path, query: { chain, height: query.get('height') } });
    case 'referrals':
      return call('/api/identity/{nameOrId}/referrals', { path, query: { chain } });
    default: {
      const place = placeInUpdates(query);
      if (place === null) return updatesOf(chain, name, query);
      return call(CHANGES, { path, query: { chain, pageSize: PAGE_SIZE, ...place } });
    }
  }
}

/** Returns null for the first page. */
function placeInUpdates(query: URLSearchParams) {
  const [page, cursor] = [query.get('page'), query.get('cursor')];
  return page === null && cursor === null ? null : { page, cursor };
}
