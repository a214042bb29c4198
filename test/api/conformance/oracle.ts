/** Prices and their history. */
import { describe, expect, it } from 'vitest';
import { isNear } from '../../support/processors/pricing/near.ts';
import { goldenPrices } from '../../support/processors/pricing/recorded-pricing.ts';
import type { TestClient } from '../client.ts';
import { ALICE, USDX } from '../running-service.ts';
import { blocks, type LooseJson, tip } from '../truth.ts';

export function oracleConform(client: TestClient): void {
  describe('oracle', () => {
    it('prices every currency like the independent program', async () => {
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
        expect(liveCalculation.baskets.map(({ basketId }: LooseJson) => basketId)).toEqual(
          wanted.baskets.map(({ basketId }) => basketId),
        );
      }
      const listed = await client.json('/api/oracle/prices');
      const deep = (last?.prices ?? []).filter(({ totalDepth }) => Number(totalDepth) >= 10_000);
      expect(listed.map((row: LooseJson) => row.currencyId).sort()).toEqual(deep.map((row) => row.currencyId).sort());
    });

    it('keeps the history block by block', async () => {
      const { count, data } = await client.json(`/api/oracle/prices/usdx/history?from=${tip - 9}&to=${tip}`);
      expect([count, data.length]).toEqual([10, 10]);
      expect(data.map((row: LooseJson) => row.blockHeight)).toEqual(Array.from({ length: 10 }, (_, n) => tip - n));
      const hours = await client.json('/api/oracle/prices/USDX/history?hours=1&limit=1000');
      const since = Math.max(...blocks.map((block) => block.time)) - 3600;
      expect(hours.count).toBe(blocks.filter((block) => block.time >= since).length);
    });

    it('has all of a day, in pages of any size, block by block and by interval', async () => {
      const path = '/api/oracle/prices/usdx/history';
      const end = Math.max(...blocks.map((block) => block.time));
      const walk = async (query: string) => {
        const rows: LooseJson[] = [];
        for (let cursor: string | null = ''; cursor !== null; ) {
          const page: LooseJson = await client.json(`${path}?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
          expect([page.count, page.nextCursor !== null]).toEqual([page.data.length, page.nextCursor !== null]);
          rows.push(...page.data);
          cursor = page.nextCursor;
        }
        return rows;
      };
      const every = await walk('limit=1000');
      const timeOf = ({ createdAt }: LooseJson) => Date.parse(createdAt) / 1000;
      expect(every.length).toBeGreaterThan(1000);
      const day = every.filter((row) => timeOf(row) >= end - 24 * 3600);
      // Small pages only for short walks: each page is a statement.
      for (const limit of [70, 200, 1000]) expect(await walk(`hours=24&limit=${limit}`)).toEqual(day);
      const some = every.filter(({ blockHeight }) => blockHeight >= 100 && blockHeight <= 190);
      for (const limit of [7, 200, 1000]) expect(await walk(`from=100&to=190&limit=${limit}`)).toEqual(some);
      for (const [interval, span, few] of [
        ['5m', 300, 40],
        ['1h', 3600, 2],
        ['1d', 86_400, 2],
      ] as const) {
        for (const [query, rows] of [
          ['', every],
          ['&hours=24', day],
          ['&to=1000', every.filter(({ blockHeight }) => blockHeight <= 1000)],
        ] as const) {
          const newest = new Map<number, LooseJson>();
          for (const row of rows) {
            const bucket = Math.floor(timeOf(row) / span);
            if (!newest.has(bucket)) newest.set(bucket, row);
          }
          const wanted = [...newest].sort(([a], [b]) => b - a).map(([, row]) => row);
          expect(wanted.length).toBeGreaterThan(interval === '5m' ? few : 0);
          for (const limit of [few, 1000]) {
            expect(await walk(`interval=${interval}${query}&limit=${limit}`), `${interval}${query}`).toEqual(wanted);
          }
        }
      }
    });

    it('reports where a limit has cut the history, and accepts the cursor for this history only', async () => {
      const path = '/api/oracle/prices/usdx/history';
      const cut = await client.json(`${path}?limit=10`);
      expect([cut.count, cut.interval, typeof cut.nextCursor]).toEqual([10, 'block', 'string']);
      expect((await client.json(`${path}?from=${tip - 9}&limit=10`)).nextCursor).toBeNull();
      for (const other of [`${path}?interval=1h`, '/api/oracle/prices/vrsctest/history?', `${path}?hours=1`].map(
        (base) => `${base}&cursor=${cut.nextCursor}`,
      )) {
        const answer = await client.raw(other);
        expect([answer.status, other.includes('hours')]).toEqual(other.includes('hours') ? [200, true] : [400, false]);
      }
    });

    it.each([
      ['an unknown name', '/api/oracle/prices/usdz', 404, { suggestions: ['usdx'] }],
      ['an unknown name, nothing near', '/api/oracle/prices/nothing-like-it/history', 404, { suggestions: [] }],
      ['an i-address of no currency', `/api/oracle/prices/${ALICE}`, 404, { suggestions: [] }],
      ['an i-address with a wrong letter', `/api/oracle/prices/${USDX.replace(/.$/, 'z')}`, 400, faultAt('/id')],
      ['an impossible name', '/api/oracle/prices/a*b/history', 400, faultAt('/id')],
      ['limit 0', '/api/oracle/prices/usdx/history?limit=0', 400, faultAt('/limit')],
      ['limit of text', '/api/oracle/prices/usdx/history?limit=ten', 400, faultAt('/limit')],
      ['an unknown interval', '/api/oracle/prices/usdx/history?interval=2h', 400, faultAt('/interval')],
      ['a foreign cursor', '/api/oracle/prices/usdx/history?cursor=abc', 400, { code: 'cursor_invalid' }],
      ['from after to', '/api/oracle/prices/usdx/history?from=9&to=8', 400, faultAt('/from')],
      ['from of text', '/api/oracle/prices/usdx/history?from=x', 400, faultAt('/from')],
      ['a negative height', '/api/oracle/prices/usdx/history?to=-1', 400, faultAt('/to')],
      ['a short txid', '/api/oracle/conversions/abc', 400, faultAt('/txid')],
      ['a txid of no conversion', `/api/oracle/conversions/${'0'.repeat(64)}`, 404, {}],
    ])('refuses %s', async (_name, path, status, members) => {
      const answer = await client.raw(path);
      expect(await answer.json()).toMatchObject({ status, ...members });
      expect(answer.status).toBe(status);
    });

    it('serves a limit above 1,000 as 1,000', async () => {
      const { count } = await client.json('/api/oracle/prices/usdx/history?limit=100000');
      expect(count).toBe(1000);
    });
  });
}

function faultAt(pointer: string): LooseJson {
  return { code: 'invalid_parameter', errors: [{ pointer }] };
}
