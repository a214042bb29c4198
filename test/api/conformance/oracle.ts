/** Prices and their history. */
import { describe, expect, it } from 'vitest';
import { isNear } from '../../../processors/pricing/testing/near.ts';
import { goldenPrices } from '../../../processors/pricing/testing/recorded-pricing.ts';
import type { Client } from '../client.ts';
import { blocks, type Json, tip } from '../truth.ts';

export function oracleConform(client: Client): void {
  describe('oracle', () => {
    it('prices every currency as the independent program did', async () => {
      const golden = goldenPrices().rows.filter(({ scenario, height }) => scenario === 'live' && height === tip);
      const [last] = golden;
      expect(last?.prices.length).toBeGreaterThan(3);
      for (const wanted of last?.prices ?? []) {
        const { currentPrice, liveCalculation } = await client.json(`/api/oracle/prices/${wanted.currencyId}`);
        for (const name of ['usdPrice', 'emaPrice', 'totalDepth'] as const) {
          expect(isNear(String(currentPrice[name]), wanted[name]), `${wanted.currencyId} ${name}`).toBe(true);
        }
        const { sourceBlock, confidence, status } = wanted;
        expect(currentPrice).toMatchObject({ sourceBlock, confidence, status });
        expect(liveCalculation.baskets.map(({ basketId }: Json) => basketId)).toEqual(
          wanted.baskets.map(({ basketId }) => basketId),
        );
      }
      const listed = await client.json('/api/oracle/prices');
      const deep = (last?.prices ?? []).filter(({ totalDepth }) => Number(totalDepth) >= 10_000);
      expect(listed.map((row: Json) => row.currencyId).sort()).toEqual(deep.map((row) => row.currencyId).sort());
    });

    it('keeps the history block by block', async () => {
      const { count, data } = await client.json(`/api/oracle/prices/usdx/history?from=${tip - 9}&to=${tip}`);
      expect([count, data.length]).toEqual([10, 10]);
      expect(data.map((row: Json) => row.blockHeight)).toEqual(Array.from({ length: 10 }, (_, n) => tip - n));
      const hours = await client.json('/api/oracle/prices/USDX/history?hours=1&limit=1000');
      const since = Math.max(...blocks.map((block) => block.time)) - 3600;
      expect(hours.count).toBe(blocks.filter((block) => block.time >= since).length);
    });
  });
}
