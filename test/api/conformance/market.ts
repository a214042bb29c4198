/** Baskets, pairs, volumes. */
import { describe, expect, it } from 'vitest';
import { parseExact } from '../../../domain/json/exact-json.ts';
import type { TestClient } from '../client.ts';
import { NATIVE, USDX } from '../running-service.ts';
import { type LooseJson, recordedText, sat, truth } from '../truth.ts';

export function marketConform(client: TestClient): void {
  describe('market', () => {
    const currencies: LooseJson = truth('supply.json').currencies;
    const live = Object.values<LooseJson>(currencies).filter(
      ({ options, bestcurrencystate: state }) => options & 1 && (state.flags & 0x37) === 0x31,
    );
    const near = (a: unknown, b: number) => Math.abs(Number(String(a)) - b) <= 1e-6 * Math.max(1, Math.abs(b));

    it('shows each live basket like the daemon, and its value', async () => {
      const rows: LooseJson[] = await client.json('/api/market/baskets');
      expect(rows.map((row) => row.currencyId).sort()).toEqual(live.map(({ currencyid }) => currencyid).sort());
      for (const { currencyid, bestcurrencystate: state } of live) {
        const row = rows.find((candidate) => candidate.currencyId === currencyid);
        expect(sat(row.supply)).toBe(sat(state.supply));
        const held = (reserve: LooseJson) => [
          reserve.currencyId ?? reserve.currencyid,
          sat(reserve.reserve ?? reserve.reserves),
        ];
        expect(row.reserves.map(held)).toEqual(state.reservecurrencies.map(held));
        const worth = row.reserves.map(
          (reserve: LooseJson) => Number(String(reserve.reserve)) * Number(String(reserve.usdPrice)),
        );
        expect(
          near(
            row.tvl,
            worth.reduce((sum: number, value: number) => sum + value, 0),
          ),
        ).toBe(true);
      }
      const tvls = rows.map((row) => Number(String(row.tvl)));
      expect(tvls).toEqual([...tvls].sort((a, b) => b - a));
    });

    it('counts each trade once', async () => {
      const conversions = await client.walk('/api/conversions/', 200);
      const trades = conversions.filter(
        ({ status, type }) => status === 'completed' && ['convert', 'via'].includes(type),
      );
      const volume = trades.reduce((sum, { usdValue }) => sum + Number(String(usdValue ?? 0)), 0);
      const protocol = await client.json('/api/market/protocol');
      expect(protocol.tradesAllTime).toBe(trades.length);
      for (const total of [protocol.volumeAllTime, protocol.volume30d]) expect(near(total, volume)).toBe(true);
      expect(near(protocol.fees30d, volume * 0.00025)).toBe(true);
      for (const period of ['daily', 'weekly', 'monthly']) {
        const series: LooseJson[] = await client.json(`/api/market/volume?period=${period}`);
        expect(series.length).toBe(period === 'daily' ? 30 : 12);
        expect(
          near(
            series.reduce((sum, row) => sum + Number(String(row.volume)), 0),
            volume,
          ),
        ).toBe(true);
        expect(series.reduce((sum, row) => sum + row.trades, 0)).toBe(trades.length);
      }
      let throughBaskets = 0;
      for (const { name } of live) {
        const series: LooseJson[] = await client.json(`/api/market/baskets/${name}/volume?days=5`);
        throughBaskets += series.reduce((sum, row) => sum + row.trades, 0);
      }
      expect(throughBaskets).toBe(trades.length);
    });

    it('prices pairs by the states of the baskets', async () => {
      const rows: LooseJson[] = await client.json('/api/market/pairs');
      for (const { currencyid, bestcurrencystate: state } of live) {
        const of = rows.filter((row) => row.basketId === currencyid);
        const size = state.reservecurrencies.length + 1;
        expect(of.length).toBe((size * (size - 1)) / 2);
        const perToken = (id: string) => {
          const reserve = state.reservecurrencies.find((candidate: LooseJson) => candidate.currencyid === id);
          return reserve
            ? Number(String(reserve.reserves)) / Number(String(state.supply)) / Number(String(reserve.weight))
            : 1;
        };
        for (const row of of) {
          expect(near(row.price, perToken(row.quoteId) / perToken(row.baseId))).toBe(true);
          const [low, high] = [Number(String(row.low)), Number(String(row.high))];
          for (const price of [row.open, row.close]) {
            expect(Number(String(price))).toBeGreaterThanOrEqual(low);
            expect(Number(String(price))).toBeLessThanOrEqual(high);
          }
          expect(row.baseId).not.toBe(USDX);
        }
      }
    });

    it('has the same data in the formats of aggregators', async () => {
      const pairs: LooseJson[] = await client.json('/api/market/pairs');
      const gecko: LooseJson[] = await client.json('/api/tickers/coingecko');
      expect(gecko.map(({ ticker_id, pool_id }) => [ticker_id, pool_id])).toEqual(
        pairs.map(({ base, quote, basket }) => [`${base}_${quote}`, basket]),
      );
      for (const [index, pair] of pairs.entries()) {
        const ticker = gecko[index];
        for (const [text, number] of [
          [ticker.last_price, pair.price],
          [ticker.high, pair.high],
          [ticker.low, pair.low],
          [ticker.liquidity_in_usd, pair.liquidity ?? 0],
        ]) {
          expect(Math.abs(Number(text) - Number(number))).toBeLessThanOrEqual(6e-9);
        }
        expect([ticker.base_volume, ticker.target_volume]).toEqual([String(pair.volumeBase), String(pair.volumeQuote)]);
      }
      const cap: LooseJson = await client.json('/api/tickers/coinmarketcap');
      const paprika: LooseJson[] = await client.json('/api/tickers/coinpaprika');
      const keys = [...new Set(pairs.map(({ baseId, quoteId }) => `${baseId}_${quoteId}`))];
      expect(Object.keys(cap)).toEqual(keys);
      expect(paprika.length).toBe(keys.length);
      for (const [index, key] of keys.entries()) {
        const pools = pairs.filter(({ baseId, quoteId }) => `${baseId}_${quoteId}` === key);
        const volume = pools.reduce((sum, pool) => sum + BigInt(sat(pool.volumeBase)), 0n);
        expect([sat(cap[key].base_volume), sat(paprika[index].volume)]).toEqual([String(volume), String(volume)]);
        expect(paprika[index].last).toBe(cap[key].last_price);
      }
    });

    it('has the reserves of a basket that the daemon reported at each height', async () => {
      const lines = recordedText('series/currencystate.jsonl.gz').trim().split('\n');
      const states = new Map<string, LooseJson>();
      for (const line of lines) {
        const [, height] = /"height":\s*"?(\d+)/.exec(line) ?? [];
        const [, id] = /"currencystate":\s*\{[^{}]*?"currencyid":\s*"(\w+)"/.exec(line) ?? [];
        states.set(`${id} ${height}`, line);
      }
      for (const { currencyid, name } of live) {
        const { data } = await client.json(`/api/market/baskets/${name}/reserves?days=30`);
        expect(data.length).toBeGreaterThan(50);
        expect(data.length).toBeLessThanOrEqual(200);
        for (const point of data) {
          const line = states.get(`${currencyid} ${point.height}`);
          const state = (parseExact(line ?? '') as LooseJson).result[0].currencystate;
          expect(sat(point.supply)).toBe(sat(state.supply));
          const held = state.reservecurrencies.map((reserve: LooseJson) => [reserve.currencyid, sat(reserve.reserves)]);
          expect(Object.entries<LooseJson>(point.reserves).map(([id, coins]) => [id, sat(coins)])).toEqual(held);
          expect(Object.keys(point.usdValues)).toEqual(Object.keys(point.reserves));
          const worth = Object.values<LooseJson>(point.usdValues).map((usd) => Number(String(usd ?? 0)));
          expect(worth.reduce((sum, usd) => sum + usd, 0)).toBeCloseTo(Number(String(point.tvl ?? 0)), 5);
        }
      }
    });

    it('lists every priced currency with its hourly sparkline', async () => {
      const rows: LooseJson[] = await client.json('/api/market/currencies');
      for (const { currencyId, price, sparkline } of rows) {
        const { currentPrice } = await client.json(`/api/oracle/prices/${currencyId}`);
        expect(String(price)).toBe(String(currentPrice.usdPrice));
        expect(near(sparkline.at(-1), Number(String(price)))).toBe(true);
        const { data } = await client.json(`/api/market/prices/${currencyId}/history?days=3`);
        expect(String(data.at(-1).price)).toBe(String(price));
        expect(data.map(({ time }: LooseJson) => time)).toEqual(data.map(({ time }: LooseJson) => time).sort());
      }
      const { total, pools } = await client.json('/api/market/vrsc-pools');
      const held = live.flatMap(({ bestcurrencystate: state }) => state.reservecurrencies);
      const native = held.filter(({ currencyid }: LooseJson) => currencyid === NATIVE);
      expect(sat(total)).toBe(
        native.reduce((sum: bigint, r: LooseJson) => sum + BigInt(sat(r.reserves)), 0n).toString(),
      );
      expect(pools.length).toBe(native.length);
      expect((await client.json('/api/market/overview')).topBaskets.length).toBe(live.length);
    });

    it('thins the history of a price, and shows the confidence of each point', async () => {
      const { currentPrice } = await client.json('/api/oracle/prices/xeth');
      for (const points of [1, 7, 1000]) {
        const { data } = await client.json(`/api/market/prices/xeth/history?days=3&points=${points}`);
        expect(data.length).toBeLessThanOrEqual(points);
        const { price, confidence, depth, status } = data.at(-1);
        expect([price, depth].map(String)).toEqual([currentPrice.usdPrice, currentPrice.totalDepth].map(String));
        expect([confidence, status]).toEqual([currentPrice.confidence, currentPrice.status]);
      }
    });

    it('has the marks of its span in every series', async () => {
      const marks: LooseJson[] = await client.json('/api/market/marks');
      expect(marks.map(({ text, chains }) => [text, chains])).toEqual([['A test – marked', ['vrsc']]]);
      const from = marks[0]?.from;
      for (const path of [
        'market/prices/xeth/history',
        'market/prices/xeth/candles?step=5m',
        'market/pairs/PureTri/xeth/usdx/candles',
        'market/baskets/PureTri/reserves',
        'market/overview',
        'oracle/prices/xeth/history?interval=1h',
        'stats/charts?metric=difficulty',
      ])
        expect([path, (await client.json(`/api/${path}`)).marks]).toEqual([path, marks]);
      for (const path of ['volume', 'baskets/PureTri/volume']) {
        const header = (await client.raw(`/api/market/${path}`)).headers.get('marks');
        expect([path, JSON.parse(header ?? 'null')]).toEqual([path, marks]);
      }
      expect((await client.json(`/api/market/prices/xeth/candles?to=${from.slice(0, 13)}:00Z`)).marks).toEqual([]);
    });

    it('has candles that open at the close of the one before, and sums of trades', async () => {
      const conversions = await client.walk('/api/conversions/', 200);
      const trades = conversions.filter(
        ({ status, type }) => status === 'completed' && ['convert', 'via'].includes(type),
      );
      const sum = (rows: readonly LooseJson[], member: string) =>
        rows.reduce((total, row) => total + Number(String(row[member] ?? 0)), 0);
      const ofAll = { candles: 0, trades: 0 };
      for (const pair of (await client.json('/api/market/pairs')) as LooseJson[]) {
        const path = `/api/market/pairs/${pair.basketId}/${pair.baseId}/${pair.quoteId}/candles`;
        const series = await Promise.all(['5m', '1h', '1d'].map((step) => client.json(`${path}?step=${step}`)));
        for (const { data } of series) {
          expect(data.length).toBeLessThanOrEqual(1000);
          for (const [index, { time, open, high, low, close }] of data.entries()) {
            const [least, ...ends] = [low, open, close, high].map((price) => Number(String(price)));
            expect(Math.max(...ends)).toBe(Number(String(high)));
            expect(Math.min(...ends)).toBeGreaterThanOrEqual(Number(least));
            if (index > 0) expect([time, String(open)]).toEqual([time, String(data[index - 1].close)]);
          }
          expect(String(data.at(-1).close)).toBe(String(pair.price));
          ofAll.candles += data.length;
        }
        const [byMinutes, byHour, byDay] = series.map(({ data }) => data);
        for (const member of ['volumeBase', 'volumeQuote', 'volumeUsd', 'trades']) {
          expect(near(sum(byHour, member), sum(byDay, member))).toBe(true);
          expect(sum(byMinutes, member)).toBeLessThanOrEqual(sum(byDay, member) * 1.000001);
        }
        ofAll.trades += sum(byDay, 'trades');
        const other = await client.json(`/api/market/pairs/${pair.basket}/${pair.quote}/${pair.base}/candles?step=1d`);
        expect(other.data.map((row: LooseJson) => String(row.volumeBase))).toEqual(
          byDay.map((row: LooseJson) => String(row.volumeQuote)),
        );
      }
      expect(ofAll.trades).toBe(trades.length);
      expect(ofAll.candles).toBeGreaterThan(100);
    });

    it('has candles of a currency up to its price, page by page', async () => {
      const { data, from } = await client.json('/api/market/prices/xeth/candles?step=1h');
      const { currentPrice } = await client.json('/api/oracle/prices/xeth');
      expect(String(data.at(-1).close)).toBe(String(currentPrice.usdPrice));
      const middle = data[Math.floor(data.length / 2)].time;
      const before = await client.json(`/api/market/prices/xeth/candles?step=1h&from=${from}&to=${middle}`);
      const after = await client.json(`/api/market/prices/xeth/candles?step=1h&from=${before.to}`);
      expect([...before.data, ...after.data]).toEqual(data);
    });

    it.each([
      ['prices/xeth/candles?step=2h', 'invalid_parameter', 'step must be one of 5m, 1h, 4h, 1d'],
      ['prices/xeth/candles?from=20&to=10', 'invalid_parameter', 'from (20) is not before to (10)'],
      ['prices/xeth/candles?step=1d&from=0&to=1794990000', 'invalid_parameter', 'at most 1000 are answered'],
      ['prices/xeth/candles?from=2026-02-30', 'invalid_parameter', 'from is not a date'],
      ['pairs/PureTri/xeth/xeth/candles', 'invalid_parameter', 'the same currency'],
      ['pairs/PureTri/xeth/bob@/candles', 'not_found', 'not known'],
      ['pairs/usdx/xeth/usdx/candles', 'not_found', 'a basket named'],
    ])('refuses candles of %s', async (path, code, detail) => {
      const given = await client.raw(`/api/market/${path}`);
      const problem = (await given.json()) as LooseJson;
      expect([problem.code, problem.detail]).toEqual([code, expect.stringContaining(detail)]);
    });

    it('has no candles before the chain and after its newest block', async () => {
      for (const range of ['to=0', 'to=2000-01-01', 'from=999999999999', 'from=2100-01-01&to=2100-01-02'])
        expect([range, (await client.json(`/api/market/prices/xeth/candles?${range}`)).data]).toEqual([range, []]);
    });
  });
}
