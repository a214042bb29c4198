import { expect, it } from 'vitest';
import { documentRoute } from './documentation-routes.ts';

it('the OpenAPI document is built once for all requests', async () => {
  const route = documentRoute([]);
  const config = { chains: [] };
  const ask = () => route.handler({ api: { config, release: '1' } } as never);
  const [one, other] = [await ask(), await ask()];
  expect(other.body).toBe(one.body);
});
