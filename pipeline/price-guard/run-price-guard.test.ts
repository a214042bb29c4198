/** The guard over the prices of the recording, with a feed whose prices each test sets. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { readStagePosition } from '../../infra/postgres/stage-positions.ts';
import { plainPrices } from '../../test/support/pipeline/price/plain-prices.ts';
import { createPriceWorld, type PriceWorld } from '../../test/support/pipeline/price/price-world.ts';
import { recordedDerivation } from '../../test/support/pipeline/price/recorded-derivation.ts';
import { recordedPriceChain } from '../../test/support/pipeline/price/recorded-price-chain.ts';
import { slowChains } from '../../test/support/pipeline/price/slow-chains.ts';
import { goldenPrices } from '../../test/support/processors/pricing/recorded-pricing.ts';
import { pricingRules } from '../price/run-price.ts';
import { runPriceGuard } from './run-price-guard.ts';

const golden = goldenPrices();
const [anchor = ''] = golden.anchors;
const config = { cutover: 0, minBasketDepthUsd: 1, priceLimits: {} };
const chains = [recordedPriceChain({ minBasketAge: 0, stableAnchors: golden.anchors })];
const native = chains[0]?.nativeCurrencyId ?? '';
/** A second anchor, which remains when the first leaves. */
const XETH = 'iF3tRmjJZeTCVeAcLGjJEY9fuiNxwcu7kN';

let world: PriceWorld;
let derived: number;
/** Feed id → USD; null: the feed fails. */
let feedPrices: Readonly<Record<string, number>> | null;
const feed = createServer((_, response) => {
  if (!feedPrices) return void response.writeHead(500).end();
  response.end(JSON.stringify(Object.fromEntries(Object.entries(feedPrices).map(([id, usd]) => [id, { usd }]))));
});

beforeAll(async () => {
  world = await createPriceWorld({ chains, ...config });
  await world.feeds[0]?.append(recordedDerivation());
  await world.run();
  const { rows } = await world.stores.postgres.pool.query<{ usd: string }>(
    'SELECT usd_price::text AS usd FROM prices WHERE currency_id = $1 ORDER BY tick DESC LIMIT 1',
    [native],
  );
  derived = Number(rows[0]?.usd);
  await new Promise<void>((resolve) => feed.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  feed.close();
  feed.closeAllConnections();
  await world.close();
});

let stop: (() => Promise<void>) | null = null;
beforeEach(() => {
  feedPrices = { native: derived, anchor: 1 };
});
afterEach(async () => {
  await stop?.();
  await world.stores.postgres.pool.query('DELETE FROM price_guards; DELETE FROM good_prices');
});

const feedUrl = () => `http://127.0.0.1:${(feed.address() as AddressInfo).port}/price`;

function startGuard(guarded: PriceWorld = world, of = chains, urls = [feedUrl()]): void {
  const ending = new AbortController();
  const running = runPriceGuard({
    chains: of,
    config: {
      ...config,
      priceFeedUrls: urls,
      priceFeedIds: { [native]: 'native', [anchor]: 'anchor', [XETH]: 'xeth' },
    },
    stores: guarded.stores,
    logger: pino({ level: 'silent' }),
    signal: ending.signal,
    every: { passMs: 10, askMs: 20 },
  });
  stop = async () => {
    stop = null;
    ending.abort();
    await running;
  };
}

async function guardOf(currencyId: string, { stores } = world) {
  const { rows } = await stores.postgres.pool.query<{ status: string; off: number; published: string | null }>(
    'SELECT status, deviation_pct::float8 AS off, published FROM price_guards WHERE currency_id = $1',
    [currencyId],
  );
  const [row] = rows;
  if (!row) return null;
  const published = row.published === null ? null : (JSON.parse(row.published) as { usdPrice: string });
  return { status: row.status, off: row.off, published: published && Number(published.usdPrice) };
}

it('reports how far the price of the chain is from the external one', async () => {
  startGuard();
  await expect.poll(() => guardOf(native)).toMatchObject({ status: 'healthy', published: null });
  feedPrices = { native: derived * 1.04, anchor: 1 };
  await expect.poll(() => guardOf(native)).toMatchObject({ status: 'warning', published: null });
  expect((await guardOf(native))?.off).toBeCloseTo(100 - 100 / 1.04, 6);
});

it('publishes the last good price while the price is rejected, also after a restart', async () => {
  startGuard();
  await expect.poll(() => guardOf(native)).toMatchObject({ status: 'healthy' });
  feedPrices = { native: derived * 2, anchor: 1 };
  const rejected = { status: 'rejected', off: expect.closeTo(50, 6), published: derived };
  await expect.poll(() => guardOf(native)).toEqual(rejected);
  await stop?.();
  startGuard();
  feedPrices = { native: derived * 4, anchor: 1 };
  await expect.poll(() => guardOf(native)).toEqual({ ...rejected, off: expect.closeTo(75, 6) });
  feedPrices = { native: derived, anchor: 1 };
  await expect.poll(() => guardOf(native)).toMatchObject({ status: 'healthy', published: null });
});

it('removes all external prices once no feed is configured', async () => {
  const { pool } = world.stores.postgres;
  startGuard();
  await expect.poll(() => guardOf(native)).toMatchObject({ status: 'healthy' });
  feedPrices = { native: derived * 2, anchor: 1 };
  await expect.poll(() => guardOf(native)).toMatchObject({ status: 'rejected', published: derived });
  await stop?.();
  const before = await readStagePosition(pool, 'price_guard', '*');
  startGuard(world, chains, []);
  await expect.poll(() => guardOf(native)).toBeNull();
  const after = await readStagePosition(pool, 'price_guard', '*');
  expect(after?.position).toBeGreaterThan(before?.position ?? Number.POSITIVE_INFINITY);
  await stop?.();
  startGuard();
  await expect.poll(() => guardOf(native)).toEqual({ status: 'rejected', off: expect.closeTo(50, 6), published: null });
});

it('keeps its external prices while the feed fails', async () => {
  startGuard();
  feedPrices = { native: derived * 2, anchor: 1 };
  await expect.poll(() => guardOf(native)).toMatchObject({ status: 'rejected' });
  feedPrices = null;
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await guardOf(native)).toMatchObject({ status: 'rejected' });
});

it('rejects every price while the only anchor is off its peg', async () => {
  startGuard();
  await expect.poll(() => guardOf(anchor)).toMatchObject({ status: 'healthy', published: null });
  feedPrices = { anchor: 0.9 };
  await expect.poll(() => guardOf(native)).toMatchObject({ status: 'rejected', published: derived });
  feedPrices = { anchor: 1, native: derived };
  await expect.poll(() => guardOf(native)).toMatchObject({ status: 'healthy', published: null });
});

it('publishes prices by the remaining anchors while an anchor is off its peg', async () => {
  const anchored = [recordedPriceChain({ minBasketAge: 0, stableAnchors: [anchor, XETH] })];
  const both = await createPriceWorld({ chains: anchored, ...config });
  try {
    await both.feeds[0]?.append(recordedDerivation());
    await both.run();
    startGuard(both, anchored);
    feedPrices = { anchor: 1, xeth: 1 };
    await expect.poll(() => guardOf(XETH, both)).toMatchObject({ status: 'healthy', published: null });
    expect(await guardOf(native, both)).toBeNull();
    feedPrices = { anchor: 1, xeth: 0.5 };
    await expect.poll(() => guardOf(native, both)).toEqual({ status: 'healthy', off: null, published: derived });
  } finally {
    await stop?.();
    await both.close();
  }
});

it('publishes prices by the remaining anchors at the newest blocks while a chain stands still', async () => {
  const slow = slowChains();
  const anchored = slow.chains.map((chain) => ({ ...chain, stableAnchors: [anchor, XETH] }));
  const blocks = [slow.first.slice(0, 200), slow.second.slice(0, 150)];
  const remaining = anchored.map((chain) => ({ ...chain, stableAnchors: [anchor] }));
  const plain = plainPrices(pricingRules(remaining, config), blocks);
  const stalled = await createPriceWorld({ chains: anchored, ...config });
  try {
    for (const [index, feed] of stalled.feeds.entries()) await feed.append(blocks[index] ?? []);
    await stalled.run();
    startGuard(stalled, anchored);
    feedPrices = { anchor: 1, xeth: 0.5 };
    const newest = Number((plain.prices[native] as { usd_price: string }).usd_price);
    await expect.poll(() => guardOf(native, stalled)).toEqual({ status: 'healthy', off: null, published: newest });
  } finally {
    await stop?.();
    await stalled.close();
  }
});
