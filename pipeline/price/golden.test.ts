/** The golden numbers of the recording, read from both stores. */

import { afterAll, describe, expect, it } from 'vitest';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { allRows, createPriceWorld, type PriceWorld } from '../../test/support/pipeline/price/price-world.ts';
import { recordedDerivation } from '../../test/support/pipeline/price/recorded-derivation.ts';
import { recordedPriceChain } from '../../test/support/pipeline/price/recorded-price-chain.ts';
import { isNear, isNearOrNull } from '../../test/support/processors/pricing/near.ts';
import {
  type GoldenStamp,
  goldenPrices,
  goldenStamps,
} from '../../test/support/processors/pricing/recorded-pricing.ts';

const prices = goldenPrices();
const stamps = goldenStamps();
const blocks = recordedDerivation();
const rowsOf = new Map<string, Record<string, string[]>>();
const worlds: PriceWorld[] = [];
afterAll(async () => {
  for (const world of worlds) await world.close();
});

interface StampRecord extends Omit<GoldenStamp, 'scenario'> {
  readonly clickhouse: string | null;
}

describe.each(prices.scenarios)('scenario $name', (scenario) => {
  it.each([5000, 97])('in batches of %i ticks', async (maxTicks) => {
    const { minBasketAge, minBasketDepthUsd } = scenario;
    const cutover = Date.parse(scenario.cutover) / 1000;
    const chains = [recordedPriceChain({ minBasketAge, stableAnchors: prices.anchors })];
    const world = await createPriceWorld({ chains, cutover, minBasketDepthUsd });
    worlds.push(world);
    await world.feeds[0]?.append(blocks);
    await world.run({ maxTicks });
    await expectStamps(
      world,
      stamps.rows.filter((row) => row.scenario === scenario.name),
    );
    for (const expected of prices.rows.filter((row) => row.scenario === scenario.name))
      await expectPrices(world, expected);
    const rows = await allRows(world.stores);
    rowsOf.set(scenario.name, rowsOf.get(scenario.name) ?? rows);
    expect(rows).toEqual(rowsOf.get(scenario.name));
  });
});

async function expectStamps({ stores }: PriceWorld, expected: readonly GoldenStamp[]) {
  const { rows } = await stores.postgres.pool.query<StampRecord & { tick: bigint }>(
    `SELECT txid, vout, rule, reason, regime, diverged, price_height AS "priceHeight", from_usd AS "fromUsd",
       to_usd AS "toUsd", usd_value AS "usdValue", priced_currency_id AS "pricedCurrencyId",
       priced_currency_usd AS "pricedCurrencyUsd", price_basket AS "priceBasket" FROM stamps`,
  );
  const analytics = await stores.clickhouse.rows(
    rowReader({
      txid: columns.text,
      vout: columns.number,
      usd_value: columns.nullable(columns.text),
      rule: columns.text,
    }),
    'SELECT txid, vout, usd_value, rule FROM conversions',
  );
  const held = new Map(rows.map((row) => [`${row.txid}:${row.vout}`, row]));
  const analysed = new Map(analytics.map((row) => [`${row.txid}:${row.vout}`, row]));
  expect(analysed.size).toBe(analytics.length);
  expect([...analysed.keys()].sort()).toEqual([...held.keys()].sort());
  for (const golden of expected) {
    const key = `${golden.txid}:${golden.vout}`;
    const row = held.get(key);
    if (golden.status === 'pending') {
      expect(row).toBeUndefined();
      continue;
    }
    for (const column of [
      'rule',
      'reason',
      'regime',
      'diverged',
      'priceHeight',
      'pricedCurrencyId',
      'priceBasket',
    ] as const) {
      expect([key, column, row?.[column]]).toEqual([key, column, golden[column]]);
    }
    for (const column of ['fromUsd', 'toUsd', 'usdValue', 'pricedCurrencyUsd'] as const) {
      expect([key, column, isNearOrNull(row?.[column] ?? null, golden[column])]).toEqual([key, column, true]);
    }
    expect(analysed.get(key)?.rule).toBe(golden.rule);
    expect(isNearOrNull(analysed.get(key)?.usd_value ?? null, golden.usdValue)).toBe(true);
  }
}

const readPrice = rowReader({
  currency_id: columns.text,
  height: columns.number,
  tier: columns.number,
  usd_price: columns.text,
  ema_price: columns.text,
  total_depth: columns.text,
  source_basket: columns.text,
});

async function expectPrices({ stores }: PriceWorld, { height, prices: expected }: (typeof prices.rows)[number]) {
  const rows = await stores.clickhouse.rows(
    readPrice,
    `SELECT currency_id, height, tier, usd_price, ema_price, total_depth, source_basket FROM prices
     WHERE height <= {height:UInt32} ORDER BY currency_id, tick DESC LIMIT 1 BY currency_id`,
    { height },
  );
  expect(rows.map((row) => row.currency_id)).toEqual(expected.map(({ currencyId }) => currencyId).sort());
  for (const price of expected) {
    const row: Partial<RowRead<typeof readPrice>> = rows.find((held) => held.currency_id === price.currencyId) ?? {};
    expect([row.height, row.tier, row.source_basket]).toEqual([
      price.sourceBlock,
      price.tier,
      price.sourceBasket ?? '',
    ]);
    const near = [
      [row.usd_price, price.usdPrice],
      [row.ema_price, price.emaPrice],
      [row.total_depth, price.totalDepth],
    ] as const;
    for (const [actual, golden] of near)
      expect([height, actual, isNear(actual ?? 'none', golden)]).toEqual([height, actual, true]);
  }
}
