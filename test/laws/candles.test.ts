/**
 * Whatever happens to blocks and to the price stage: the candles from ClickHouse equal a plain computation over the states of the baskets,
 * the prices and the stamps, up to the newest priced block of each chain.
 */

import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ApiContext } from '../../api/api-context.ts';
import { parseUsd } from '../../api/http/usd.ts';
import { currencyCandles, type Fraction, pairCandles, type StepCandle } from '../../api/rest/market/candle-rows.ts';
import { STEPS, stepWindow } from '../../api/rest/market/steps.ts';
import { pricedRows } from '../../api/state/priced-rows.ts';
import { readServiceState, readState, STATE_SQL } from '../../api/state/service-state.ts';
import type { Snapshot } from '../../api/state/snapshot.ts';
import { parsePrice } from '../../domain/decimal.ts';
import { openReader, type PostgresReader, prepared } from '../../infra/postgres/reader.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { play, scripts } from '../support/pipeline/price/price-scripts.ts';
import { createPriceWorld, type PriceWorld } from '../support/pipeline/price/price-world.ts';
import { blockOf, slowChains } from '../support/pipeline/price/slow-chains.ts';

const { first, second, chains, cutover } = slowChains();
const SCOPE = { release: 'test', chains: new Set(chains.map(({ name }) => name)) };
const firstTime = blockOf(first[0]).clock;
const lastTime = blockOf(first.at(-1)).clock;

let world: PriceWorld;
let reader: PostgresReader;
async function openWorld(): Promise<void> {
  world = await createPriceWorld({ chains, cutover, minBasketDepthUsd: 1000, withStates: true });
  reader = openReader(world.stores.postgres, { maxConnections: 2, statementMs: 60_000 });
}
async function closeWorld(): Promise<void> {
  await reader.close();
  await world.close();
}
beforeEach(openWorld);
afterEach(closeWorld);

function reading<T>(work: (read: Snapshot) => Promise<T>): Promise<T> {
  return reader.snapshot(STATE_SQL, (rows, ask) => {
    const all: Snapshot['rows'] = async (reader, sql, values = []) => (await ask(prepared(sql), values)).map(reader);
    const row: Snapshot['row'] = async (reader, sql, values) => (await all(reader, sql, values))[0];
    return work({ state: readServiceState(rows.map(readState), SCOPE), rows: all, row });
  });
}

interface Moment<Price> {
  readonly clock: number;
  readonly price: Price;
}
interface Trade {
  readonly clock: number;
  readonly basket: string;
  readonly from: string;
  readonly to: string;
  readonly amountIn: string;
  readonly amountOut: string | null;
  readonly usd: string | null;
}

const rowsOf = async <T>(sql: string, values: readonly unknown[] = []): Promise<T[]> =>
  (await world.stores.postgres.pool.query(sql, [...values])).rows as T[];

/** By chain: height of the newest block that both derive and price have. */
async function heights(): Promise<ReadonlyMap<string, number>> {
  const blocks = await rowsOf<{ key: string; chain: string; height: number }>(
    "SELECT concat_ws(' ', chain, height, encode(hash, 'hex')) AS key, chain, height FROM blocks",
  );
  const priced = await rowsOf<{ key: string }>(
    `SELECT concat_ws(' ', chain, height, encode(hash, 'hex')) AS key FROM price_ticks
     UNION SELECT concat_ws(' ', chain, height, encode(hash, 'hex')) FROM stage_positions WHERE stage = 'price_ahead'`,
  );
  const keys = new Set(priced.map(({ key }) => key));
  const found = new Map<string, number>();
  for (const { key, chain, height } of blocks) {
    if (keys.has(key)) found.set(chain, Math.max(height, found.get(chain) ?? -1));
  }
  return found;
}

interface StateRecord {
  readonly chain: string;
  readonly basket: string;
  readonly height: number;
  readonly clock: number;
  readonly flags: number;
  readonly supply: string;
  /** JSON text. */
  readonly reserves: string;
}

interface Plain {
  /** By chain, basket, base and quote. */
  readonly pairs: ReadonlyMap<string, readonly Moment<Fraction>[]>;
  readonly currencies: ReadonlyMap<string, readonly Moment<bigint>[]>;
  readonly trades: readonly (Trade & { readonly chain: string })[];
}

async function readPlain(): Promise<Plain> {
  const through = await heights();
  const counts = ({ chain, height }: { chain: string; height: number }) => height <= (through.get(chain) ?? -1);
  const states = await rowsOf<StateRecord>(
    `SELECT s.chain, currency_id AS basket, from_height AS height, clock::integer AS clock, flags, supply::text AS supply, reserves
     FROM currency_states s JOIN blocks ON blocks.chain = s.chain AND blocks.height = s.from_height
     WHERE s.to_height IS NULL OR s.to_height > s.from_height ORDER BY s.from_height`,
  );
  const pairs = new Map<string, Moment<Fraction>[]>();
  for (const { chain, basket, clock, flags, supply, reserves } of states.filter(counts)) {
    if ((flags & 0x37) !== 0x31) continue;
    const stored = JSON.parse(reserves) as { currencyId: string; reserves: string; weight: string }[];
    const held = [{ currencyId: basket, reserves: supply, weight: '100000000' }, ...stored];
    for (const base of held) {
      for (const quote of held.filter(({ currencyId }) => currencyId !== base.currencyId)) {
        const [over, under] = [
          BigInt(quote.reserves) * BigInt(base.weight),
          BigInt(base.reserves) * BigInt(quote.weight),
        ];
        if (over === 0n || under === 0n) continue;
        const key = `${chain} ${basket} ${base.currencyId} ${quote.currencyId}`;
        pairs.set(key, pairs.get(key) ?? []);
        pairs.get(key)?.push({ clock, price: { over, under } });
      }
    }
  }
  const trades = await rowsOf<Trade & { readonly chain: string; readonly height: number }>(
    `SELECT t.chain, t.import_height AS height, b.clock::integer AS clock, import_currency_id AS basket, coalesce(from_currency_id, '') AS from,
       to_currency_id AS to, amount_in::text AS "amountIn", amount_out::text AS "amountOut", usd_value::text AS usd
     FROM stamps s JOIN transfers t USING (chain, txid, vout) JOIN blocks b ON b.chain = t.chain AND b.height = t.import_height
     WHERE generation = (SELECT generation FROM generations WHERE served) AND t.to_height IS NULL
       AND status = 'completed' AND kind IN ('convert', 'via')`,
  );
  return { pairs, currencies: await pricesByCurrency(counts), trades: trades.filter(counts) };
}

async function pricesByCurrency(counts: (row: { chain: string; height: number }) => boolean) {
  const { clickhouse } = world.stores;
  const [served] = await rowsOf<{ generation: number; tick: string }>(
    'SELECT generation, coalesce((SELECT max(tick) FROM price_ticks), 0)::text AS tick FROM generations WHERE served',
  );
  const runs = await rowsOf<{ run: string; from: string; through: string }>(
    'SELECT run::text AS run, from_tick::text AS from, through_tick::text AS through FROM ahead_runs WHERE counts',
  );
  const clocks = new Map(
    (
      await rowsOf<{ key: string; clock: number }>(
        "SELECT concat(chain, ' ', height) AS key, clock::integer AS clock FROM blocks",
      )
    ).map(({ key, clock }) => [key, clock]),
  );
  const PRICE = {
    id: columns.text,
    tick: columns.text,
    chain: columns.text,
    height: columns.number,
    price: columns.text,
  };
  const priced = 'toString(currency_id) AS id, tick, toString(chain) AS chain, height, toString(usd_price) AS price';
  const complete = await clickhouse.rows(
    rowReader(PRICE),
    `SELECT ${priced} FROM prices WHERE generation = {generation: UInt32} AND tick <= {tick: UInt64}`,
    served as unknown as Record<string, unknown>,
  );
  const beyond = await clickhouse.rows(
    rowReader({ ...PRICE, run: columns.text }),
    `SELECT ${priced}, toString(run) AS run FROM prices_ahead WHERE generation = {generation: UInt32}`,
    served as unknown as Record<string, unknown>,
  );
  const shown = beyond.filter(({ run, tick }) =>
    runs.some((of) => of.run === run && BigInt(tick) >= BigInt(of.from) && BigInt(tick) <= BigInt(of.through)),
  );
  const prices = new Map<string, Moment<bigint>[]>();
  const inOrder = [...complete, ...shown].filter(counts).sort((a, b) => (BigInt(a.tick) < BigInt(b.tick) ? -1 : 1));
  for (const { id, chain, height, price } of inOrder) {
    const moment = { clock: clocks.get(`${chain} ${height}`) ?? 0, price: parsePrice(price) };
    prices.set(id, prices.get(id) ?? []);
    prices.get(id)?.push(moment);
  }
  return prices;
}

/** Computes the candles of all steps of all time. */
function plainCandles<Price>(
  moments: readonly Moment<Price>[],
  trades: readonly Trade[],
  volumesOf: (trade: Trade) => readonly [bigint, bigint],
  isLess: (a: Price, b: Price) => boolean,
  span: number,
): StepCandle<Price>[] {
  const candles = new Map<number, StepCandle<Price>>();
  let close: Price | null = null;
  for (const { clock, price } of moments) {
    const time = Math.floor(clock / span) * span;
    const open: Price = candles.get(time)?.open ?? close ?? price;
    const { high, low } = candles.get(time) ?? { high: open, low: open };
    const ofStep = trades.filter((trade) => Math.floor(trade.clock / span) * span === time);
    candles.set(time, {
      time,
      open,
      high: isLess(high, price) ? price : high,
      low: isLess(price, low) ? price : low,
      close: price,
      volumes: [
        ofStep.reduce((sum, trade) => sum + volumesOf(trade)[0], 0n),
        ofStep.reduce((sum, trade) => sum + volumesOf(trade)[1], 0n),
      ],
      volumeUsd: ofStep.reduce((sum, { usd }) => sum + parseUsd(usd ?? '0'), 0n),
      trades: ofStep.length,
    });
    close = price;
  }
  return [...candles.values()];
}

/** Fractions as digits, enough for any two prices to differ. */
const digits = ({ over, under }: Fraction) => (over * 10n ** 60n) / under;
const withDigits = (candles: readonly StepCandle<Fraction>[]) =>
  candles.map(({ open, high, low, close, ...rest }) => ({
    ...rest,
    prices: [open, high, low, close].map(digits),
  }));
const isLessFraction = (a: Fraction, b: Fraction) => a.over * b.under < b.over * a.under;

interface StepQuery {
  readonly step: (typeof STEPS)[number];
  readonly from: number | null;
  readonly to: number | null;
}

/** Most pairs and currencies to compare, because each is a statement. */
const MOST = 4;

/** Some pairs that traded in this direction, and one that did not. */
function chosenPairs({ pairs, trades }: Plain) {
  const traded = new Set(trades.map(({ chain, basket, from, to }) => `${chain} ${basket} ${from} ${to}`));
  const [some, others] = [true, false].map((wanted) => [...pairs].filter(([key]) => traded.has(key) === wanted));
  return [...(some ?? []).slice(0, MOST), ...(others ?? []).slice(-1)];
}

/** Compares candles, and returns how many of them had trades. */
async function holds({ step, from, to }: StepQuery): Promise<number> {
  const plain = await readPlain();
  const [text, until] = [from, to].map((moment) => (moment === null ? undefined : String(moment)));
  let traded = 0;
  await reading(async (read) => {
    const api = { clickhouse: world.stores.clickhouse } as unknown as ApiContext;
    const rows = await pricedRows(read, api);
    const newest = Math.max(0, ...[...read.state.derived.values()].map(({ clock }) => clock));
    const window = stepWindow({ step, from: text, to: until }, newest);
    const isShown = ({ time }: { time: number }) => time >= window.from && time < window.until;
    for (const [key, moments] of chosenPairs(plain)) {
      const [chain = '', basket = '', base = '', quote = ''] = key.split(' ');
      const trades = plain.trades.filter(
        (trade) =>
          trade.chain === chain &&
          trade.basket === basket &&
          [trade.from, trade.to].sort().join() === [base, quote].sort().join(),
      );
      const volumesOf = (trade: Trade): readonly [bigint, bigint] => {
        const [paid, received] = [BigInt(trade.amountIn), BigInt(trade.amountOut ?? 0)];
        return trade.from === base ? [paid, received] : [received, paid];
      };
      const expected = plainCandles(moments, trades, volumesOf, isLessFraction, window.span).filter(isShown);
      const found = await pairCandles(read, api, rows, { chain, basket, base, quote }, window);
      expect([key, withDigits(found)]).toEqual([key, withDigits(expected)]);
      traded += found.filter((candle) => candle.trades > 0).length;
    }
    for (const [id, moments] of [...plain.currencies].slice(-MOST)) {
      const trades = plain.trades.filter((trade) => trade.from === id || trade.to === id);
      const volumesOf = (trade: Trade): readonly [bigint, bigint] => [
        BigInt((trade.from === id ? trade.amountIn : trade.amountOut) ?? 0),
        0n,
      ];
      const isLess = (a: bigint, b: bigint) => a < b;
      const expected = plainCandles(moments, trades, volumesOf, isLess, window.span).filter(isShown);
      const found = await currencyCandles(read, api, rows, id, window);
      expect([id, found]).toEqual([id, expected]);
      traded += found.filter((candle) => candle.trades > 0).length;
    }
  });
  return traded;
}

const moments = fc.option(fc.integer({ min: firstTime, max: lastTime }));
const questions = fc
  .record({ step: fc.constantFrom(...STEPS), from: moments, to: moments })
  // No more steps than the API returns, and in order.
  .map(({ step, from, to }): StepQuery => {
    const isFine = step === '5m' || (from !== null && to !== null && from >= to);
    return { step, from, to: isFine ? null : to };
  });

it('candles are right after any appends, rewinds, crashes and corrections', async () => {
  let traded = 0;
  await fc.assert(
    fc
      .asyncProperty(scripts, questions, async (script, question) => {
        await play(world, [first, second], script, async () => {
          traded += await holds(question);
        });
        for (const step of ['4h', '1d'] as const) traded += await holds({ step, from: null, to: null });
      })
      .afterEach(async () => {
        await closeWorld();
        await openWorld();
      }),
    { numRuns: Number(process.env.CANDLE_RUNS ?? 2), endOnFailure: true },
  );
  expect(traded).toBeGreaterThan(20);
}, 600_000);

it('candles are right while prices have not followed a rewind, and after a swap of generations', async () => {
  const { pool } = world.stores.postgres;
  const live = JSON.stringify([{ regime: 'live', from: null, to: null, chains: null }]);
  await pool.query("INSERT INTO generations VALUES (2, false, 'all live', $1)", [live]);
  await world.feeds[0]?.append(first.slice(0, 200));
  await world.feeds[1]?.append(second.slice(0, 120));
  await world.run({ maxTicks: 60 });
  const day: StepQuery = { step: '1d', from: null, to: null };
  const whole = await holds(day);
  expect(whole).toBeGreaterThan(20);
  await world.feeds[0]?.rewind(first[150]?.height ?? 0);
  expect(await holds(day)).toBeLessThan(whole);
  await world.feeds[0]?.append(first.slice(151));
  await holds(day);
  await world.run();
  const sums: number[] = [];
  for (const generation of [1, 2, 1]) {
    await pool.query('UPDATE generations SET served = false');
    await pool.query('UPDATE generations SET served = true WHERE generation = $1', [generation]);
    sums.push(await holds(day));
  }
  expect(sums[0]).toBe(sums[2]);
});
