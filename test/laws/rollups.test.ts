/**
 * Whatever happens to the price stage: the sums of the market pages from ClickHouse, with whole days rolled up and provisional rows next
 * to the complete ones, equal the plain sum of the stamps in Postgres.
 */

import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ApiContext } from '../../api/api-context.ts';
import { parseUsd } from '../../api/http/usd.ts';
import { readTrades, type Unit, type Volume } from '../../api/rest/market/trades.ts';
import { startOf } from '../../api/rest/market/volume-series.ts';
import { pricesAt } from '../../api/rest/prices/price-past.ts';
import { pricedRows } from '../../api/state/priced-rows.ts';
import type { Snapshot } from '../../api/state/snapshot.ts';
import { utcDay } from '../../domain/time.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { poolRows } from '../support/api/pool-rows.ts';
import { retimed } from '../support/pipeline/price/branches.ts';
import type { FedBlock } from '../support/pipeline/price/facts-feed.ts';
import { play, scripts } from '../support/pipeline/price/price-scripts.ts';
import { createPriceWorld, type PriceWorld } from '../support/pipeline/price/price-world.ts';
import { blockOf, slowChains } from '../support/pipeline/price/slow-chains.ts';

const slow = slowChains();
const UNITS: readonly Unit[] = ['day', 'week', 'month'];
const { chains } = slow;
const firstTime = blockOf(slow.first[0]).time;
/** Stretched over two months, so that days with trades of either regime close on the way. */
const slower = (blocks: readonly FedBlock[]) => retimed(blocks, ({ time }) => firstTime + 2 * (time - firstTime));
const [first, second] = [slower(slow.first), slower(slow.second)];
const cutover = firstTime + 36 * 86_400;
const lastTime = blockOf(first.at(-1)).time;

let world: PriceWorld;
beforeEach(async () => {
  world = await createPriceWorld({ chains, cutover, minBasketDepthUsd: 1000 });
});
afterEach(() => world.close());

interface Row {
  readonly chain: string;
  readonly time: number;
  readonly kind: string;
  readonly status: string;
  readonly basket: string;
  readonly from: string;
  readonly to: string;
  readonly amountIn: string;
  readonly amountOut: string | null;
  readonly usd: string | null;
}

async function served() {
  const { rows } = await world.stores.postgres.pool.query<{ generation: number }>(
    'SELECT generation FROM generations WHERE served',
  );
  return rows[0]?.generation ?? 0;
}

async function plainTrades(since: number): Promise<Row[]> {
  const { rows } = await world.stores.postgres.pool.query<Row>(
    `SELECT t.chain, b.time::integer AS time, kind, status, import_currency_id AS basket, coalesce(from_currency_id, '') AS from,
       to_currency_id AS to, amount_in::text AS "amountIn", amount_out::text AS "amountOut", usd_value::text AS usd
     FROM stamps s JOIN transfers t USING (chain, txid, vout) JOIN blocks b ON b.chain = t.chain AND b.height = t.import_height
     WHERE generation = $1 AND t.to_height IS NULL`,
    [await served()],
  );
  return rows.filter((row) => {
    return row.status === 'completed' && (row.kind === 'convert' || row.kind === 'via') && row.time > since;
  });
}

function summed(rows: readonly Row[], keysOf: (row: Row) => readonly (string | number)[]) {
  const sums = new Map<string, Volume & { amountIn: bigint; amountOut: bigint }>();
  for (const row of rows) {
    for (const key of new Set(keysOf(row).map(String))) {
      const { volume, trades, amountIn, amountOut } = sums.get(key) ?? {
        volume: 0n,
        trades: 0,
        amountIn: 0n,
        amountOut: 0n,
      };
      sums.set(key, {
        volume: volume + parseUsd(row.usd ?? '0'),
        trades: trades + 1,
        amountIn: amountIn + BigInt(row.amountIn),
        amountOut: amountOut + BigInt(row.amountOut ?? 0),
      });
    }
  }
  return sums;
}

/** Only volumes and trades, with texts as keys, in no order. */
function volumes(sums: Iterable<readonly [string | number, Volume]>): unknown {
  return Object.fromEntries([...sums].map(([key, { volume, trades }]) => [key, { volume, trades }]));
}

const END_OF_TIME = 4_000_000_000;

/** Newest prices by currency, from Postgres. */
async function newestPrices(): Promise<ReadonlyMap<string, string>> {
  const { rows } = await world.stores.postgres.pool.query<{ id: string; price: string }>(
    `SELECT DISTINCT ON (currency_id) currency_id AS id, trim_scale(usd_price)::text AS price FROM prices
     WHERE generation = $1 ORDER BY currency_id, tick DESC`,
    [await served()],
  );
  return new Map(rows.map(({ id, price }) => [id, price]));
}

async function holdsAt(since: number): Promise<void> {
  const { postgres, clickhouse } = world.stores;
  const read = {
    state: { generation: await served(), leftOut: [], derived: new Map() },
    ...poolRows(postgres),
  } as unknown as Snapshot;
  const api = { clickhouse } as unknown as ApiContext;
  const priced = await pricedRows(read, api);
  const newest = await newestPrices();
  expect(await pricesAt(api, priced, [...newest.keys()], END_OF_TIME)).toEqual(newest);
  const trades = await readTrades(read, api, priced);
  const plain = await plainTrades(since);
  const all = summed(plain, () => ['all']).get('all');
  expect(await trades.total(since)).toEqual({ volume: all?.volume ?? 0n, trades: all?.trades ?? 0 });
  expect(volumes(await trades.byBasket(since))).toEqual(volumes(summed(plain, ({ basket }) => [basket])));
  const sinces = new Map(chains.map(({ name }, index) => [name, since + index * 3 * 86_400]));
  const ofEach = plain.filter(({ chain, time }) => time > (sinces.get(chain) ?? 0));
  expect(volumes(await trades.byBasket(sinces))).toEqual(volumes(summed(ofEach, ({ basket }) => [basket])));
  expect(volumes(await trades.byCurrency(since))).toEqual(volumes(summed(plain, ({ from, to }) => [from, to])));
  const basket = plain[0]?.basket ?? 'none';
  for (const unit of UNITS) {
    const byUnit = (row: Row) => [startOf(unit, row.time)];
    expect(volumes(await trades.byPeriod(unit, since, null))).toEqual(volumes(summed(plain, byUnit)));
    const ofBasket = plain.filter((row) => row.basket === basket);
    expect(volumes(await trades.byPeriod(unit, since, basket))).toEqual(volumes(summed(ofBasket, byUnit)));
  }
  const sides = await trades.bySides(since);
  const bySides = sides.map(({ basketId, fromId, toId, ...sums }) => [`${basketId} ${fromId} ${toId}`, sums]);
  const key = ({ basket: id, from, to }: Row) => [`${id} ${from} ${to}`];
  expect(Object.fromEntries(bySides)).toEqual(Object.fromEntries(summed(plain, key)));
}

async function rolledDays(): Promise<number> {
  const { rows } = await world.stores.postgres.pool.query<{ day: number | null }>(
    'SELECT max(day) - $1 AS day FROM rolled_days WHERE generation = (SELECT generation FROM generations WHERE served)',
    [utcDay(firstTime)],
  );
  return rows[0]?.day ?? 0;
}

/** Number of trades of the served generation in the rolled-up days that count. */
async function rolledTrades(): Promise<number> {
  const through = (await rolledDays()) + utcDay(firstTime);
  const [row] = await world.stores.clickhouse.rows(
    rowReader({ trades: columns.text }),
    `SELECT toString(sum(trades)) AS trades FROM daily_trades
     WHERE generation = {generation: UInt32} AND toInt32(day) <= {through: Int32}`,
    { generation: await served(), through },
  );
  return Number(row?.trades);
}

/** Checks complete stamps only: stamps beyond the line are in no rollup, even when their block's time steps back into a closed day. */
async function noClosedDayIsProvisional(): Promise<void> {
  const { rows } = await world.stores.postgres.pool.query(
    `SELECT s.chain, b.time FROM stamps s JOIN transfers t USING (chain, txid, vout)
       JOIN blocks b ON b.chain = t.chain AND b.height = t.import_height
     WHERE t.to_height IS NULL AND s.provisional AND s.tick <= (SELECT max(tick) FROM price_ticks)
       AND b.time < (SELECT (max(day) + 1) * 86400::bigint FROM rolled_days r WHERE r.generation = s.generation)`,
  );
  expect(rows).toEqual([]);
}

const moments = fc.oneof(
  fc.constant(0),
  fc.integer({ min: firstTime, max: lastTime }),
  fc.integer({ min: utcDay(firstTime), max: utcDay(lastTime) }).map((day) => day * 86_400 - 1),
);

it('sums are right after any appends, rewinds, crashes and corrections', async () => {
  let rolled = 0;
  await fc.assert(
    fc
      .asyncProperty(scripts, moments, async (script, since) => {
        await play(world, [first, second], script, async () => {
          await holdsAt(since);
          await noClosedDayIsProvisional();
          rolled = Math.max(rolled, await rolledTrades());
        });
        await holdsAt(0);
      })
      .afterEach(async () => {
        await world.close();
        world = await createPriceWorld({ chains, cutover, minBasketDepthUsd: 1000 });
      }),
    { numRuns: Number(process.env.ROLLUP_RUNS ?? 2), endOnFailure: true },
  );
  expect(rolled).toBeGreaterThan(100);
}, 600_000);

it('sums are right immediately after a swap of generations and back', async () => {
  const { pool } = world.stores.postgres;
  const live = JSON.stringify([{ regime: 'live', from: null, to: null, chains: null }]);
  await pool.query("INSERT INTO generations VALUES (2, false, 'all live', $1)", [live]);
  await world.feeds[0]?.append(first);
  await world.feeds[1]?.append(second);
  await world.run({ maxTicks: 150 });
  const trades: number[] = [];
  for (const generation of [1, 2, 1]) {
    await pool.query('UPDATE generations SET served = false');
    await pool.query('UPDATE generations SET served = true WHERE generation = $1', [generation]);
    trades.push(await rolledTrades());
    await holdsAt(0);
  }
  expect(Math.min(...trades)).toBeGreaterThan(100);
});

it('sums are right immediately after a rewind into rolled-up days, and once these are rolled up again', async () => {
  await world.close();
  // Live stamps only: none is corrected, so only the rewind reopens the days.
  world = await createPriceWorld({ chains: chains.slice(0, 1), cutover: 0, minBasketDepthUsd: 1000 });
  await world.feeds[0]?.append(first);
  await world.run();
  const before = await rolledDays();
  expect(before).toBeGreaterThan(10);
  await world.feeds[0]?.rewind(first[70]?.height ?? 0);
  await world.run();
  expect(await rolledDays()).toBeLessThan(before);
  await holdsAt(0);
  await world.feeds[0]?.append(first.slice(71));
  await world.run();
  expect(await rolledTrades()).toBeGreaterThan(100);
  await holdsAt(0);
});

it('sums are right after a block whose time steps back into a rolled-up day', async () => {
  await world.feeds[0]?.append(first.slice(0, 240));
  await world.feeds[1]?.append(second.slice(0, 240));
  await world.run();
  const before = await rolledDays();
  expect(before).toBeGreaterThan(5);
  const busy = first.findIndex(({ facts }, index) => index >= 240 && facts.some(({ type }) => type === 'transfer'));
  const past = firstTime + 3 * 86_400;
  const stepped = first.slice(240, busy + 1).map((block) => ({
    ...block,
    facts: block.facts.map((fact) => (fact.type === 'block' ? { ...fact, time: past } : fact)),
  }));
  await world.feeds[0]?.append(stepped);
  await world.feeds[1]?.append(second.slice(240, busy + 30));
  await world.run({ maxTicks: 1 });
  await holdsAt(past - 10);
  await holdsAt(past - 3 * 86_400);
});
