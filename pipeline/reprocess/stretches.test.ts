/** Stretches have whole ticks, follow each other, and have no more conversions than allowed. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Stores } from '../../infra/stores.ts';
import { createTestStores } from '../../test/support/infra/test-stores.ts';
import { stretches } from './stretches.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores.close());

it('covers all ticks once, and has no more conversions than allowed plus the rest of the last tick', async () => {
  const { clickhouse } = stores;
  const ticks = fc.array(fc.nat({ max: 40 }), { maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(ticks, fc.nat({ max: 20 }), fc.integer({ min: 1, max: 30 }), async (made, low, most) => {
      await clickhouse.command('TRUNCATE TABLE conversions');
      const rows = made.map((tick, vout) => [1, 'vrsc', 'f'.repeat(64), vout, tick]);
      await clickhouse.insert('conversions', ['generation', 'chain', 'txid', 'vout', 'tick'], rows);
      const high = 45;
      const found = await stretches(clickhouse, { generation: 1, low, high, most });
      expect(
        found.flatMap((range) => Array.from({ length: range.high - range.low + 1 }, (_, at) => range.low + at)),
      ).toEqual(Array.from({ length: high - low + 1 }, (_, at) => low + at));
      const within = (from: number, to: number) => made.filter((tick) => tick >= from && tick <= to).length;
      for (const range of found) {
        const beyond = within(range.high, range.high);
        expect(within(range.low, range.high) - beyond).toBeLessThan(most);
      }
      expect(found.length).toBeLessThanOrEqual(Math.floor(within(low, high) / most) + 1);
    }),
    { numRuns: 25 },
  );
});
