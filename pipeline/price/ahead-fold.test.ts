/** One chain stands still: blocks of the others are shown, marked, and end up as they would have been anyway. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { FedBlock } from '../../test/support/pipeline/price/facts-feed.ts';
import { allRows, createPriceWorld, type PriceWorld } from '../../test/support/pipeline/price/price-world.ts';
import { blockOf, slowChains } from '../../test/support/pipeline/price/slow-chains.ts';

const { first, second, chains } = slowChains();
const options = { chains, cutover: 0, minBasketDepthUsd: 1000 };
const STALLED = 150;

let world: PriceWorld;
beforeEach(async () => {
  world = await createPriceWorld(options);
  await world.feeds[0]?.append(first);
  await world.feeds[1]?.append(second.slice(0, STALLED));
  await world.run();
});
afterEach(() => world.close());

interface Shown {
  readonly key: string;
  readonly stamp: string;
  readonly provisional: boolean;
  readonly isAhead: boolean;
}

async function stamps(): Promise<Shown[]> {
  const { rows } = await world.stores.postgres.pool.query<Shown>(
    `SELECT chain || ' ' || encode(txid, 'hex') || ':' || vout AS key, provisional,
       (to_jsonb(stamps) - 'tick' - 'provisional')::text AS stamp, tick > (SELECT max(tick) FROM price_ticks) AS "isAhead"
     FROM stamps ORDER BY key`,
  );
  return rows;
}

/** Newest price of each currency, as the API returns it. */
async function newestPrices() {
  const { rows } = await world.stores.postgres.pool.query<{ price: string; height: number; isAhead: boolean }>(
    `SELECT DISTINCT ON (currency_id) (to_jsonb(prices) - 'tick')::text AS price, height,
       tick > (SELECT max(tick) FROM price_ticks) AS "isAhead"
     FROM prices ORDER BY currency_id, prices.tick DESC`,
  );
  return rows;
}

/** A block that only shows that its chain has passed the other. */
function quietBlock(): FedBlock {
  const last = second[STALLED];
  const clock = blockOf(first.at(-1)).clock + 1;
  return {
    height: last?.height ?? 0,
    hash: last?.hash ?? '',
    facts: [{ ...blockOf(last), time: clock, clock }],
  };
}

it('stamps and prices every existing block', async () => {
  const shown = await stamps();
  const ahead = shown.filter(({ isAhead }) => isAhead);
  expect(ahead.length).toBeGreaterThan(20);
  expect(ahead.every(({ provisional, key }) => provisional && key.startsWith('vrsc '))).toBe(true);
  expect(shown.filter((row) => row.provisional !== row.isAhead)).toEqual([]);
  const { rows } = await world.stores.postgres.pool.query(
    `SELECT FROM transfers t WHERE status = 'completed' AND kind <> 'send' AND t.to_height IS NULL
       AND NOT EXISTS (SELECT FROM stamps s WHERE s.chain = t.chain AND s.txid = t.txid AND s.vout = t.vout)`,
  );
  expect(rows).toEqual([]);
  const prices = await newestPrices();
  expect(prices.length).toBeGreaterThan(3);
  for (const { height, isAhead } of prices) expect([height, isAhead]).toEqual([first.at(-1)?.height, true]);
});

it('adds nothing to the complete rows', async () => {
  const { rows } = await world.stores.postgres.pool.query<{ tick: bigint }>(
    'SELECT max(tick) AS tick FROM price_ticks',
  );
  for (const table of ['prices', 'conversions']) {
    const held = await world.stores.clickhouse.query(`SELECT 1 FROM ${table} WHERE tick > {tick: UInt64}`, rows[0]);
    expect(held).toEqual([]);
  }
});

it('is confirmed when the other chain changes nothing', async () => {
  const [before, prices] = [await stamps(), await newestPrices()];
  await world.feeds[1]?.append([quietBlock()]);
  await world.run();
  const after = await stamps();
  expect(after.filter(({ isAhead, provisional }) => isAhead || provisional)).toEqual([]);
  expect(after.map(({ stamp }) => stamp)).toEqual(before.map(({ stamp }) => stamp));
  const final = (await newestPrices()).filter(({ isAhead }) => !isAhead);
  expect(final.length).toBeGreaterThan(0);
  for (const row of final) expect(prices.map(({ price }) => price)).toContain(row.price);
});

it('is replaced when the other chain continues', async () => {
  const before = new Map((await stamps()).map(({ key, stamp }) => [key, stamp]));
  await world.feeds[1]?.append(second.slice(STALLED));
  await world.run({ maxTicks: 7 });
  const after = await stamps();
  expect(after.filter(({ key, stamp }) => before.has(key) && before.get(key) !== stamp).length).toBeGreaterThan(0);
  const straight = await createPriceWorld(options);
  try {
    await straight.feeds[0]?.append(first);
    await straight.feeds[1]?.append(second);
    await straight.run();
    expect(await allRows(world.stores)).toEqual(await allRows(straight.stores));
  } finally {
    await straight.close();
  }
});

it('is removed with its blocks', async () => {
  await world.feeds[0]?.rewind(first[200]?.height ?? 0);
  await world.run();
  const ahead = (await stamps()).filter(({ isAhead }) => isAhead);
  const heights = ahead.map(({ stamp }) => Number(JSON.parse(stamp).price_height));
  expect(heights.length).toBeGreaterThan(5);
  expect(Math.max(...heights)).toBeLessThanOrEqual(first[200]?.height ?? 0);
  for (const { height } of await newestPrices()) expect(height).toBe(first[200]?.height);
});
