/** Paths of a chain without an indexed block: 503 `syncing`, so that a client asks again, and not 404. */
import { expect, it } from 'vitest';
import type { StateRoute } from '../http/route.ts';
import { rawRoutes } from './blocks/raw-routes.ts';
import { networkAtHeightRoutes } from './network/at-height-routes.ts';

const read = { state: { derived: new Map() }, rows: async () => [], row: async () => undefined };
const api = { snapshot: (work: (snapshot: unknown) => Promise<unknown>) => work(read) };
const [raw] = rawRoutes;
const [atHeight] = networkAtHeightRoutes;

it.each([
  ['/api/blocks/:height/raw', raw],
  ['/api/stats/network/:height', atHeight],
])('%s', async (path, route) => {
  expect(route?.path).toBe(path);
  const call = { params: { chain: 'a', height: 5 }, read, api } as never;
  await expect((async () => (route as StateRoute).handler(call))()).rejects.toMatchObject({
    code: 'syncing',
    status: 503,
  });
});
