/** Rows have a fixed order, whatever order Postgres returns, so that the order of equal rows in a list is stable. */
import { expect, it } from 'vitest';
import type { ApiContext } from '../../api-context.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { latestPrices } from './price-rows.ts';

it('returns prices in the order of the requested ids', async () => {
  const found = ['c', 'a', 'd'].map((currency_id) => ({
    currency_id,
    guard: null,
    published: null,
    provisional: false,
  }));
  const read = { state: { generation: 1 }, rows: async () => found } as unknown as Snapshot;
  const api = { config: { chains: [{ name: 'one' }] } } as unknown as ApiContext;
  const prices = await latestPrices(read, api, ['a', 'b', 'c', 'd']);
  expect(prices.map((price) => price.currency_id)).toEqual(['a', 'c', 'd']);
});
