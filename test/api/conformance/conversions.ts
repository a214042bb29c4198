/** Conversions and their USD stamps. */
import { beforeAll, describe, expect, it } from 'vitest';
import { isNearOrNull } from '../../support/processors/pricing/near.ts';
import { goldenStamps } from '../../support/processors/pricing/recorded-pricing.ts';
import type { TestClient } from '../client.ts';
import { NATIVE, USDX } from '../running-service.ts';
import { blocks, type LooseJson, sat, truth } from '../truth.ts';

export function conversionsConform(client: TestClient): void {
  describe('conversions', () => {
    const recorded: LooseJson[] = truth('conversions.json');
    const rows = new Map<string, LooseJson>();

    beforeAll(async () => {
      for (const row of await client.walk('/api/conversions/', 50)) rows.set(`${row.txid}:${row.vout}`, row);
    });

    it('shows what really arrived, to the satoshi', () => {
      for (const { transfer, kind, received_exact: received, frmid, toid, viaid, ...wanted } of recorded) {
        const key = `${transfer.txid}:${transfer.vout}`;
        const row = rows.get(key);
        expect(row, key).toMatchObject({
          status: kind === 'preconvert-refund' ? 'refunded' : 'completed',
          height: wanted.tx_height,
          ...(toid && { toCurrencyId: toid }),
          viaCurrencyId: viaid,
          exportTxid: wanted.export.txid,
          importTxid: wanted.importtx.txid,
          importHeight: wanted.importtx.height,
        });
        if (kind === 'mint' || kind === 'burn' || kind === 'preconvert-refund') continue;
        expect(row.fromCurrencyId).toBe(frmid);
        expect(sat(row.amountIn)).toBe(sat(transfer.reservetransfer.currencyvalues[frmid]));
        const paid = toid === NATIVE ? String(received.satoshis) : sat(received.currencyvalues[toid]);
        expect([key, sat(row.amountOut), row.destination]).toEqual([key, paid, received.address]);
      }
    });

    it('shows at which price each was executed, what it cost and how long it took', () => {
      const timeAt = (height: number): number => Number(blocks[height].time);
      const heights = new Map<string, number>(
        blocks.flatMap(({ height, tx }) => tx.map(({ txid }: LooseJson): [string, number] => [txid, height])),
      );
      const heightOf = (txid: string): number => heights.get(txid) ?? -1;
      const legs: Readonly<Record<string, bigint>> = { convert: 1n, preconvert: 1n, via: 2n };
      for (const { transfer, kind, frmid, tx_height: asked, importtx, received_exact: received } of recorded) {
        const key = `${transfer.txid}:${transfer.vout}`;
        const row = rows.get(key);
        const amountIn = kind === 'mint' ? 0n : BigInt(sat(transfer.reservetransfer.currencyvalues[frmid]));
        expect([key, sat(row.fee)]).toEqual([key, String((legs[row.type] ?? 0n) * ((amountIn * 25_000n) / 10n ** 8n))]);
        expect([row.latencyBlocks, row.latencySeconds]).toEqual([
          importtx.height - asked,
          timeAt(importtx.height) - timeAt(asked),
        ]);
        expect([row.exportHeight, row.exportTime]).toEqual([
          heightOf(row.exportTxid),
          timeAt(heightOf(row.exportTxid)),
        ]);
        expect([row.importChain, row.importTime, row.reason]).toEqual(['vrsc', timeAt(importtx.height), null]);
        expect([row.sourceSystemId, row.exportTo, row.nextLegTxid]).toEqual([null, null, null]);
        const paid = row.status === 'completed' && received !== undefined;
        if (!paid) expect([kind, row.price]).toEqual([kind, null]);
        else expect(Number(row.price) / (Number(row.amountOut) / Number(row.amountIn))).toBeCloseTo(1, 12);
      }
    });

    it('sums the conversions of a filter, in total and by day', async () => {
      const time = [...rows.values()].map((row) => row.time).sort()[Math.floor(rows.size / 2)];
      const address = [...rows.values()].find(({ source }) => source !== null)?.source;
      const usd = (some: readonly LooseJson[]) => some.reduce((sum, row) => sum + Number(String(row.usdValue)), 0);
      let seen = 0;
      for (const query of [
        '',
        'basket=PureTri',
        'type=via&minUsd=10',
        'type=preconvert',
        `fromTime=${time}`,
        `toTime=${time}&status=completed`,
        'status=refunded',
        `address=${address}`,
        'status=pending',
      ]) {
        const found = await client.walk(`/api/conversions/?${query}`, 100);
        const summary = await client.json(`/api/conversions/summary?${query}`);
        const valued = found.filter(({ status, usdValue }) => status === 'completed' && usdValue !== null);
        expect([query, summary.count, summary.valued]).toEqual([query, found.length, valued.length]);
        const trades = valued.filter(({ type }) => ['convert', 'via'].includes(type));
        expect(Number(String(summary.volume))).toBeCloseTo(usd(trades), 6);
        expect(Number(String(summary.fees))).toBeCloseTo(usd(trades) * 0.00025, 6);
        const dated = found.filter(({ importHeight }) => importHeight !== null);
        expect(summary.days.reduce((sum: number, { count }: LooseJson) => sum + count, 0)).toBe(dated.length);
        for (const { date, count, volume } of summary.days) {
          const ofDay = dated.filter(({ importHeight }) =>
            new Date(blocks[importHeight].time * 1000).toISOString().startsWith(date),
          );
          expect([date, count]).toEqual([date, ofDay.length]);
          expect(Number(String(volume))).toBeCloseTo(usd(ofDay.filter((row) => trades.includes(row))), 6);
        }
        seen += summary.count;
      }
      expect(seen).toBeGreaterThan(rows.size * 2);
    });

    it('finds each by the transaction of its request and of its import', async () => {
      for (const { transfer, importtx } of recorded) {
        for (const txid of [transfer.txid, importtx.txid]) {
          const { count, data } = await client.json(`/api/oracle/conversions/${txid}`);
          expect(count).toBe(data.length);
          expect(data.some((row: LooseJson) => row.txid === transfer.txid && row.vout === transfer.vout)).toBe(true);
        }
      }
    });

    it('answers for a conversion that is pending with its status and no value', async () => {
      const pending = [...rows.values()].filter(({ status }) => status === 'pending');
      expect(pending.length).toBeGreaterThan(0);
      for (const { txid, vout } of pending) {
        const { data } = await client.json(`/api/oracle/conversions/${txid}`);
        expect(data.find((row: LooseJson) => row.vout === vout)).toMatchObject({
          status: 'pending',
          rule: 'unpriced',
          reason: 'pending',
          usdValue: null,
          fromUsd: null,
          toUsd: null,
          amountOut: null,
          priceHeight: null,
          pricedCurrencyId: null,
          regime: null,
        });
      }
    });

    it('stamps like the independent program, and explains the stamps', async () => {
      const golden = goldenStamps().rows.filter(({ scenario }) => scenario === 'live');
      expect(golden.length).toBeGreaterThan(40);
      for (const wanted of golden) {
        const { data } = await client.json(`/api/oracle/conversions/${wanted.txid}?explain=true`);
        const row = data.find(({ vout }: LooseJson) => vout === wanted.vout);
        const { status, rule, pricedCurrencyId, priceBasket, priceHeight, regime, diverged, reason } = wanted;
        const columns = { status, rule, pricedCurrencyId, priceBasket, priceHeight, regime, diverged, reason };
        expect(row, wanted.txid).toMatchObject(columns);
        for (const name of ['fromUsd', 'toUsd', 'usdValue', 'pricedCurrencyUsd'] as const) {
          const got = row[name] === null ? null : String(row[name]);
          expect(isNearOrNull(got, wanted[name]), `${wanted.txid} ${name} ${got}`).toBe(true);
        }
        expect(status === 'pending' || row.inputs !== null).toBe(true);
        const column = (step: string) => row.steps?.find((each: LooseJson) => each.step === step)?.value ?? null;
        expect([column('from_usd'), column('to_usd')].map((usd) => usd && Number(usd))).toEqual(
          [row.fromUsd, row.toUsd].map((usd) => usd && Number(String(usd))),
        );
      }
    });

    it.each([
      [`from=${USDX}`, (row: LooseJson) => row.fromCurrencyId === USDX],
      ['from=usdx', (row: LooseJson) => row.fromCurrencyId === USDX],
      [`to=${USDX}`, (row: LooseJson) => row.toCurrencyId === USDX],
      ['status=refunded', (row: LooseJson) => row.status === 'refunded'],
      ['status=pending', (row: LooseJson) => row.status === 'pending'],
      ['type=via', (row: LooseJson) => row.type === 'via'],
      ['minUsd=100', (row: LooseJson) => row.usdValue !== null && Number(row.usdValue) >= 100],
      ['maxUsd=5.5', (row: LooseJson) => row.usdValue !== null && Number(row.usdValue) <= 5.5],
      ['fromTime=2026-11-19T00:00:00Z', (row: LooseJson) => row.time >= Date.parse('2026-11-19T00:00:00Z') / 1000],
      ['toTime=1795000000', (row: LooseJson) => row.time < 1795000000],
    ])('filters by %s', async (query, keep) => {
      const wanted = [...rows.values()].filter(keep).map((row) => `${row.txid}:${row.vout}`);
      const found = (await client.walk(`/api/conversions/?${query}`, 20)).map((row) => `${row.txid}:${row.vout}`);
      expect(wanted.length).toBeGreaterThan(0);
      expect(found).toEqual(wanted);
      expect((await client.json(`/api/conversions/?${query}&pageSize=1`)).total).toBe(wanted.length);
    });
  });
}
