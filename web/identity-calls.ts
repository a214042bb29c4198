/** What is asked of an identity: some have more updates than one answer takes. */
import { call, orFirstPage } from './calls.ts';

const CHANGES = '/api/identity/{nameOrId}/changes';
/** The most that a page has. */
const PAGE_SIZE = '200';

/** All updates, or the newest where they are too many. An address that names a page of them is of such an identity. */
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

/** Null: at their beginning. */
function placeInUpdates(query: URLSearchParams) {
  const [page, cursor] = [query.get('page'), query.get('cursor')];
  return page === null && cursor === null ? null : { page, cursor };
}
