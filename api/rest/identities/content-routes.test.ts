import { expect, it } from 'vitest';
import type { StateCall } from '../../http/route.ts';
import { identityContentRoutes } from './content-routes.ts';

it.each([
  [{ mode: 'latest', fromHeight: 3 }, 'fromHeight is only for mode aggregate'],
  [{ mode: 'aggregate', fromHeight: 3, height: 2 }, 'fromHeight (3) is above height (2)'],
])('refuses %j, which would select nothing or be ignored', async (params, detail) => {
  const read = { state: { derived: new Map() } };
  const call = { params: { nameOrId: 'bob@', chain: 'a', ...params }, read, api: {} } as unknown as StateCall;
  const answer = (async () => identityContentRoutes[0]?.handler(call))();
  await expect(answer).rejects.toMatchObject({ code: 'invalid_parameter', message: detail });
});
