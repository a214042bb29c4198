/** Questions of analysts, one call each, compared with plain sums over the facts of the recording and with the golden numbers. */
import { describe, expect, it } from 'vitest';
import { formatDecimal, STAMP_DECIMALS } from '../../../domain/decimal.ts';
import { satoshisToCoins } from '../../../domain/satoshi.ts';
import { SYSTEM_ADDRESSES } from '../../../domain/system-addresses.ts';
import { readCsv } from '../../support/api/http/read-csv.ts';
import { isNear } from '../../support/processors/pricing/near.ts';
import {
  foldRecording as foldPrices,
  goldenPrices,
  goldenRules,
  goldenStamps,
  recordedFacts,
} from '../../support/processors/pricing/recorded-pricing.ts';
import { foldRecording } from '../../support/processors/recorded-fold.ts';
import type { TestClient } from '../client.ts';
import { ALICE, NATIVE, USDX } from '../running-service.ts';
import { blocks, type LooseJson, sat, tip } from '../truth.ts';

const HEIGHTS = [1, 301, 700, tip - 1, tip];

const { all } = foldRecording();

/** Balances at the end of a block, by address, of one currency. */
function balancesAt(currencyId: string, height: number): Map<string, bigint> {
  const held = new Map<string, bigint>();
  for (const row of all('balance')) {
    if (row.height <= height && row.currencyId === currencyId) held.set(row.address, row.balance);
  }
  return held;
}

const { anchors, scenarios, rows: goldens } = goldenStamps();
const golden = goldens.filter(({ scenario }) => scenario === 'live');
const scenario = scenarios.find(({ name }) => name === 'live');
if (!scenario) throw new Error('the golden numbers have no live scenario');
const folded = foldPrices(goldenRules(scenario, anchors), recordedFacts());
/** Prices at the end of each block. */
const priced = folded.prices.map(({ block, price, mark }) => ({
  height: block.height,
  currencyId: price.currencyId,
  usd: mark.usd,
}));
/** Each conversion that was executed, with its stamp, folded without a store. */
const stamped = [...folded.stamps.values()].map(({ height, time, transfer, stamp: { usdValue } }) => ({
  ...transfer,
  height,
  time,
  usdValue: usdValue === null ? null : formatDecimal(usdValue, STAMP_DECIMALS),
}));
const keyOf = ({ txid, vout }: LooseJson) => `${txid}:${vout}`;

/** Compares two decimal numbers as texts. */
function compare(a: string, b: string): number {
  const [units, others] = [a, b].map((text) => {
    const [whole = '', fraction = ''] = text.split('.');
    return BigInt(whole + fraction.padEnd(40, '0'));
  }) as [bigint, bigint];
  return units === others ? 0 : units < others ? -1 : 1;
}

export function analystsConform(client: TestClient): void {
  describe('an analyst asks', () => {
    it('for all conversions above 100 USD that a basket executed in a span, as CSV', async () => {
      const baskets = [...new Set(stamped.map(({ importCurrencyId }) => importCurrencyId))];
      const heights = stamped.map(({ height }) => height).sort((a, b) => a - b);
      const [from, to] = [
        heights[Math.floor(heights.length / 4)] ?? 0,
        heights[Math.floor((heights.length * 3) / 4)] ?? 0,
      ];
      const times = `executedFromTime=${blocks[from].time}&executedToTime=${Number(blocks[to].time) + 1}`;
      let found = 0;
      for (const basket of baskets) {
        const wanted = stamped.filter(
          ({ importCurrencyId, usdValue, height }) =>
            importCurrencyId === basket &&
            usdValue !== null &&
            Number(usdValue) >= 100 &&
            height >= from &&
            height <= to,
        );
        for (const span of [times, `executedFromHeight=${from}&executedToHeight=${to}`]) {
          const answer = await client.raw(`/api/conversions/?basket=${basket}&minUsd=100&${span}&format=csv`);
          const [names = [], ...lines] = readCsv(await answer.text());
          const column = (name: string) => names.indexOf(name);
          const keys = lines.map((line) => `${line[column('txid')]}:${line[column('vout')]}`);
          expect(keys.sort(), `${basket} ${span}`).toEqual(wanted.map(keyOf).sort());
          expect(lines.every((line) => line[column('basketId')] === basket)).toBe(true);
        }
        found += wanted.length;
      }
      expect(found).toBeGreaterThan(5);
    });

    it('for the largest conversions', async () => {
      const wanted = stamped.flatMap(({ usdValue }) => usdValue ?? []).sort((a, b) => compare(b, a));
      const { results, total } = await client.json('/api/conversions/?sort=largest&pageSize=10');
      expect(results).toHaveLength(10);
      for (const [index, { usdValue }] of results.entries()) {
        expect(compare(String(usdValue), wanted[index] ?? ''), `${index}: ${usdValue}`).toBe(0);
      }
      expect(total).toBe(wanted.length);
    });

    it('which stamps diverge, under which regime, at which price', async () => {
      const rows = new Map((await client.walk('/api/conversions/', 200)).map((row) => [keyOf(row), row]));
      for (const stamp of golden) {
        const { diverged, regime, priceHeight, priceBasket, pricedCurrencyId, reason } = stamp;
        const wanted = { diverged, regime, priceHeight, priceBasket, pricedCurrencyId, stampReason: reason };
        expect(rows.get(keyOf(stamp)), stamp.txid).toMatchObject(wanted);
      }
      expect(new Set(golden.map(({ diverged }) => diverged)).size).toBe(2);
    });

    it.each(HEIGHTS)('who held a currency at block %i, and how much of it there was', async (height) => {
      for (const id of [NATIVE, USDX]) {
        const held = [...balancesAt(id, height)]
          .filter(([address, balance]) => balance > 0n && !SYSTEM_ADDRESSES.has(address))
          .sort(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x > y ? -1 : 1));
        const answer = await client.json(`/api/currency/${id}/holders?height=${height}&limit=20`);
        expect([answer.height, answer.holders, answer.more]).toEqual([height, held.length, held.length > 20]);
        expect(answer.results.map(({ address, balance }: LooseJson) => [address, String(balance)])).toEqual(
          held.slice(0, 20).map(([address, balance]) => [address, satoshisToCoins(balance)]),
        );
        const supply = await client.json(`/api/currency/${id}/supply?height=${height}`);
        const states = all('currency_state').filter((row) => row.currencyId === id && row.height <= height);
        const newest = states.at(-1);
        if (id !== NATIVE) {
          expect([supply.supply && String(supply.supply), supply.stateHeight]).toEqual([
            newest ? satoshisToCoins(newest.supply) : null,
            newest?.height ?? null,
          ]);
          continue;
        }
        const issued = all('block').filter((block) => block.height <= height);
        const transparent = issued.reduce((sum, block) => sum + (block.transparentChange ?? 0n), 0n);
        expect(String(supply.supply)).toBe(satoshisToCoins(transparent + (issued.at(-1)?.shieldedSupply ?? 0n)));
      }
    });

    it.each(HEIGHTS)('what an address held at block %i, and what it was worth then', async (height) => {
      const answer = await client.json(`/api/address/${ALICE}/balance?height=${height}`);
      const ids = [...new Set(all('balance').map(({ currencyId }) => currencyId))];
      const wanted = ids
        .map((id) => [id, balancesAt(id, height).get(ALICE) ?? 0n] as const)
        .filter(([id, balance]) => id === NATIVE || balance > 0n);
      const got = answer.balances.map(({ currencyId, balance }: LooseJson) => [currencyId, String(balance)]);
      expect(new Map(got)).toEqual(new Map(wanted.map(([id, balance]) => [id, satoshisToCoins(balance)])));
      expect(answer.height).toBe(height);
      const prices: LooseJson[] = await client.json(
        `/api/oracle/prices?height=${height}&ids=${got.map(([id]: [string]) => id)}`,
      );
      for (const { currencyId, balance, usdValue } of answer.balances) {
        const price = prices.find((row) => row.currencyId === currencyId);
        expect(usdValue === null, currencyId).toBe(price === undefined);
        if (price) expect(Number(usdValue)).toBeCloseTo(Number(balance) * Number(price.usdPrice), 4);
      }
    });

    it('for a supply as plain text', async () => {
      for (const currency of [NATIVE, 'usdx']) {
        const answer = await client.raw(`/api/tickers/supply/${currency}`);
        const { supply } = await client.json(`/api/currency/${currency}/supply`);
        expect([answer.headers.get('content-type'), await answer.text()]).toEqual([
          'text/plain; charset=utf-8',
          String(supply),
        ]);
      }
      expect(await client.status('/api/tickers/supply/nosuch')).toBe(404);
    });

    it('for the fees of a basket: those of conversions, and those of volumes', async () => {
      const basket = stamped.find(({ kind }) => kind === 'via')?.importCurrencyId ?? '';
      const own = stamped.filter(
        ({ importCurrencyId, status }) => importCurrencyId === basket && status === 'completed',
      );
      const rows = await client.walk(`/api/conversions/?basket=${basket}&status=completed`, 200);
      const paid = (of: readonly (readonly [string | null, bigint])[]) => {
        const sums: Record<string, bigint> = {};
        for (const [id, fee] of of) if (id !== null) sums[id] = (sums[id] ?? 0n) + fee;
        return sums;
      };
      expect(paid(rows.map(({ fromCurrencyId, fee }) => [fromCurrencyId, BigInt(sat(fee))]))).toEqual(
        paid(own.map(({ fromCurrencyId, conversionFee }) => [fromCurrencyId, conversionFee])),
      );
      const trades = own.filter(({ kind }) => kind === 'convert' || kind === 'via');
      const volume = trades.reduce((sum, { usdValue }) => sum + Number(usdValue ?? 0), 0);
      const days: LooseJson[] = await client.json(`/api/market/baskets/${basket}/volume?days=365`);
      const fees = days.reduce((sum, day) => sum + Number(String(day.fees)), 0);
      expect(fees).toBeCloseTo(volume * 0.000_25, 5);
    });

    it('for the state of a basket at a height', async () => {
      const states = all('currency_state').filter(({ reserves }) => reserves.length > 0);
      const [first] = states;
      const currencyId = first?.currencyId ?? '';
      const own = states.filter((state) => state.currencyId === currencyId);
      for (const height of [first?.height ?? 0, 900, tip]) {
        const newest = own.filter((state) => state.height <= height).at(-1);
        const answer = await client.json(`/api/currency/${currencyId}/state?height=${height}`);
        expect(answer).toMatchObject({ height, stateHeight: newest?.height, txid: newest?.txid, flags: newest?.flags });
        expect([answer.supply, ...answer.reserves.map(({ reserve }: LooseJson) => reserve)].map(String)).toEqual(
          [newest?.supply ?? 0n, ...(newest?.reserves ?? []).map(({ reserves }) => reserves)].map(satoshisToCoins),
        );
      }
      expect(await client.status(`/api/currency/${currencyId}/state?height=${(first?.height ?? 0) - 1}`)).toBe(404);
    });

    it('what was traded of each pair on each day', async () => {
      const rows: LooseJson[] = await client.json('/api/market/pairs/volume?days=31');
      const day = (time: number) => new Date(time * 1000).toISOString().slice(0, 10);
      const wanted = new Map<string, { volume: number; trades: number; amounts: Record<string, bigint> }>();
      for (const {
        kind,
        status,
        fromCurrencyId,
        toCurrencyId,
        importCurrencyId,
        amountIn,
        amountOut,
        usdValue,
        time,
      } of stamped) {
        if (status !== 'completed' || !['convert', 'via'].includes(kind) || fromCurrencyId === null) continue;
        const key = [day(time), importCurrencyId, ...[fromCurrencyId, toCurrencyId].sort()].join(' ');
        const sum = wanted.get(key) ?? { volume: 0, trades: 0, amounts: {} };
        sum.volume += Number(usdValue ?? 0);
        sum.trades += 1;
        sum.amounts[fromCurrencyId] = (sum.amounts[fromCurrencyId] ?? 0n) + amountIn;
        sum.amounts[toCurrencyId] = (sum.amounts[toCurrencyId] ?? 0n) + (amountOut ?? 0n);
        wanted.set(key, sum);
      }
      const got = new Map(
        rows.map((row) => [[row.date, row.basketId, ...[row.baseId, row.quoteId].sort()].join(' '), row]),
      );
      expect([...got.keys()].sort()).toEqual([...wanted.keys()].sort());
      for (const [key, { volume, trades, amounts }] of wanted) {
        const row = got.get(key);
        expect([key, row.trades]).toEqual([key, trades]);
        expect(Number(String(row.volumeUsd))).toBeCloseTo(volume, 6);
        expect([String(row.volumeBase), String(row.volumeQuote)]).toEqual(
          [row.baseId, row.quoteId].map((id: string) => satoshisToCoins(amounts[id] ?? 0n)),
        );
      }
      const pairs: LooseJson[] = await client.json('/api/market/pairs');
      const oriented = new Set(pairs.map(({ basketId, baseId, quoteId }) => `${basketId} ${baseId} ${quoteId}`));
      const isLive = ({ basketId }: LooseJson) => pairs.some((pair) => pair.basketId === basketId);
      expect(rows.filter(isLive).every((row) => oriented.has(`${row.basketId} ${row.baseId} ${row.quoteId}`))).toBe(
        true,
      );
      const [{ basketId }] = rows;
      const own: LooseJson[] = await client.json(`/api/market/pairs/volume?days=3650&basket=${basketId}`);
      expect(own).toEqual(rows.filter((row) => row.basketId === basketId));
      expect(await client.status('/api/market/pairs/volume?days=32')).toBe(400);
      const [names = [], ...lines] = readCsv(
        await (await client.raw('/api/market/pairs/volume?days=31&format=csv')).text(),
      );
      expect(lines.map((line) => line[names.indexOf('volumeUsd')])).toEqual(
        rows.map(({ volumeUsd }) => String(volumeUsd)),
      );
    });

    it('what an address gained and lost, and what that was worth then', async () => {
      const spot = new Map(priced.map(({ height, currencyId, usd }) => [`${height} ${currencyId}`, usd]));
      const rows = await client.walk(`/api/address/${ALICE}?usd=true`, 200);
      const activity = new Map(
        all('activity')
          .filter(({ address }) => address === ALICE)
          .map((row) => [row.txid, row]),
      );
      expect(rows.length).toBe(activity.size);
      const rules = new Map<string, number>();
      for (const row of rows) {
        const { received = 0n, sent = 0n, currencies = {} } = activity.get(row.txid) ?? {};
        const net = new Map([[NATIVE, received - sent]]);
        for (const [id, flow] of Object.entries(currencies)) net.set(id, flow.received - flow.sent);
        let worth: bigint | null = null;
        for (const [id, satoshis] of net) {
          const usd = spot.get(`${row.height} ${id}`);
          const shown = row.usdPrices.find(({ currencyId }: LooseJson) => currencyId === id);
          if (satoshis === 0n && shown === undefined) continue;
          expect([shown.rule, shown.usdPrice === null]).toEqual(
            usd === undefined ? ['no_price', true] : ['block_price', false],
          );
          rules.set(shown.rule, (rules.get(shown.rule) ?? 0) + 1);
          if (usd !== undefined) worth = (worth ?? 0n) + satoshis * usd;
        }
        const wanted = worth === null ? null : Number(formatDecimal(worth, STAMP_DECIMALS));
        if (wanted === null) expect(row.usdValue).toBeNull();
        else expect(Number(String(row.usdValue))).toBeCloseTo(wanted, 7);
      }
      expect([...rules.keys()].sort()).toEqual(['block_price', 'no_price']);
      const { txid, height } = rows[0];
      const { usdPrices } = await client.json(`/api/tx/${txid}?usd=true`);
      const native = usdPrices.find(({ currencyId }: LooseJson) => currencyId === NATIVE);
      expect(native.rule).toBe(spot.has(`${height} ${NATIVE}`) ? 'block_price' : 'no_price');
      expect(await client.json(`/api/address/${ALICE}?pageSize=1`)).not.toHaveProperty('results.0.usdPrices');
    });

    it('for the block at a time', async () => {
      let clock = 0;
      const clocks = blocks.map(({ time }) => {
        clock = Math.max(clock, Number(time));
        return clock;
      });
      for (const moment of [clocks[0], clocks[1], (clocks[500] ?? 0) - 1, clocks[500], clocks[tip], 4_000_000_000]) {
        const { height } = await client.json(`/api/blocks/at?time=${moment}`);
        expect([moment, height]).toEqual([moment, clocks.findLastIndex((each) => each <= (moment ?? 0))]);
      }
      expect(await client.status('/api/blocks/at?time=1')).toBe(404);
      expect(await client.status('/api/blocks/at')).toBe(400);
    });

    it('for the prices at a height or a time', async () => {
      const known = goldenPrices().rows.filter((row) => row.scenario === 'live');
      expect(known.length).toBeGreaterThan(3);
      for (const { height, prices } of known) {
        const ids = prices.map(({ currencyId }) => currencyId).join(',');
        if (ids === '') continue;
        const byHeight: LooseJson[] = await client.json(`/api/oracle/prices?height=${height}&ids=${ids}`);
        const rows = new Map(byHeight.map((row) => [row.currencyId, row]));
        for (const { currencyId, usdPrice, emaPrice, totalDepth, sourceBlock, confidence } of prices) {
          const row = rows.get(currencyId);
          expect([currencyId, row?.sourceBlock, row?.confidence]).toEqual([currencyId, sourceBlock, confidence]);
          expect(isNear(String(row.usdPrice), usdPrice), `${height} ${currencyId}`).toBe(true);
          expect(isNear(String(row.emaPrice), emaPrice), `${height} ${currencyId}`).toBe(true);
          expect(isNear(String(row.totalDepth), totalDepth), `${height} ${currencyId}`).toBe(true);
        }
        const clock = Math.max(...blocks.slice(0, height + 1).map(({ time }) => Number(time)));
        const next = Math.max(clock, Number(blocks[height + 1]?.time ?? clock + 1));
        if (next > clock) expect(await client.json(`/api/oracle/prices?time=${clock}&ids=${ids}`)).toEqual(byHeight);
        const [one] = prices;
        const detail = await client.json(`/api/oracle/prices/${one?.currencyId}?height=${height}`);
        const { currencyId: _, currencyName: __, ...current } = rows.get(one?.currencyId ?? '');
        expect(detail.currentPrice).toEqual(current);
        expect(detail.priceHistory[0].blockHeight).toBeLessThanOrEqual(height);
      }
      const now = await client.json('/api/oracle/prices');
      expect((await client.json(`/api/oracle/prices?height=${tip}`)).map(usdPriceOf)).toEqual(now.map(usdPriceOf));
      for (const [wrong, status] of [
        ['height=5&time=1', 400],
        [`height=${tip + 1}`, 404],
        ['time=1', 404],
        ['ids=nosuch', 404],
        [`ids=${'usdx,'.repeat(101)}usdx`, 400],
      ] as const) {
        expect([wrong, await client.status(`/api/oracle/prices?${wrong}`)]).toEqual([wrong, status]);
      }
    });
  });
}

const usdPriceOf = ({ currencyId, usdPrice }: LooseJson) => [currencyId, String(usdPrice)];
