/** The error statuses that the OpenAPI document lists for a path. */
import { expect, it } from 'vitest';
import { methodOf } from '../http/route.ts';
import { routeTable } from '../rest/route-table.ts';
import { statusesOf } from './operation.ts';

it.each([
  ['GET', '/api/blocks/', 409, 'cursor_rewound'],
  ['GET', '/api/blocks/at', 404, 'a time before the chain'],
  ['GET', '/api/market/pairs/volume', 404, 'an unknown basket'],
  ['GET', '/api/currency/:nameOrId', 502, 'the definition of a native coin'],
  ['GET', '/api/currency/:nameOrId/supply', 502, 'the supply of a native coin'],
  ['GET', '/api/tickers/supply/:currency', 502, 'the same'],
  ['POST', '/api/auth/challenge', 403, 'identity_revoked'],
  ['POST', '/api/auth/challenge', 404, 'an unknown identity'],
  ['POST', '/api/auth/login', 413, 'a long body'],
  ['POST', '/api/auth/login', 502, 'the daemon checks the signature'],
  ['POST', '/api/keys', 409, 'too_many_keys'],
  ['POST', '/api/webhooks', 409, 'too_many_webhooks'],
])('%s %s: %i, %s', (method, path, status) => {
  const route = routeTable.find((one) => one.path === path && methodOf(one) === method);
  expect(route && statusesOf(route)).toContain(status);
});

it('a path that takes no name, no body and no cursor lists neither 404 nor 409 nor 413', () => {
  const route = routeTable.find(({ path }) => path === '/api/market/protocol');
  expect(route && statusesOf(route)).toEqual([400, 401, 429, 500, 503]);
});

it.each(['/api/blocks/', '/api/identity/', '/api/search/'])('%s, whose texts name nothing, lists no 404', (path) => {
  const route = routeTable.find((one) => one.path === path);
  expect(route && statusesOf(route)).not.toContain(404);
});
