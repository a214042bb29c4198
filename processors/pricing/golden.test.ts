/** Compares the recording's prices and stamps with those of an independent program. */
import { describe, expect, it } from 'vitest';
import { confidence, priceStatus } from '../../domain/confidence.ts';
import { formatDecimal, formatPrice, STAMP_DECIMALS, toPrice } from '../../domain/decimal.ts';
import { isNear, isNearOrNull } from '../../test/support/processors/pricing/near.ts';
import {
  foldRecording,
  type GoldenPrice,
  type GoldenStamp,
  goldenPrices,
  goldenRules,
  goldenStamps,
  recordedFacts,
} from '../../test/support/processors/pricing/recorded-pricing.ts';
import { RECORDED_CHAIN } from '../../test/support/processors/recorded-chain.ts';
import { backfillPrices } from './backfill-prices.ts';
import type { PriceRow } from './price-fold.ts';
import type { Stamp } from './stamp.ts';

const prices = goldenPrices();
const stamps = goldenStamps();
const records = recordedFacts();

const usd = (scaled: bigint | null) => (scaled === null ? null : formatDecimal(scaled, STAMP_DECIMALS));

describe('golden numbers of the recording', () => {
  it('belong to this recording', () => {
    expect(records.at(-1)?.hash).toBe(prices.tiphash);
    expect(records.at(-1)?.hash).toBe(stamps.tiphash);
  });

  for (const scenario of prices.scenarios) {
    const folded = foldRecording(goldenRules(scenario, prices.anchors), records);
    const expectedPrices = prices.rows.filter((row) => row.scenario === scenario.name);
    const expectedStamps = stamps.rows.filter((row) => row.scenario === scenario.name);

    it.each(expectedPrices)(`${scenario.name}: oracle prices at $height`, ({ height, prices: expected }) => {
      const newest = new Map<string, PriceRow>();
      for (const row of folded.prices) if (row.block.height <= height) newest.set(row.price.currencyId, row);
      expect([...newest.keys()].sort()).toEqual(expected.map(({ currencyId }) => currencyId).sort());
      for (const price of expected) expectPrice(newest.get(price.currencyId), price, height);
    });

    const backfilled = expectedPrices.filter(({ backfill }) => backfill !== null);
    it.each(backfilled)(`${scenario.name}: backfill prices at $height`, ({ height, backfill }) => {
      const baskets = folded.views[height]?.trading ?? [];
      const anchors = new Set(prices.anchors);
      const actual = backfillPrices({ baskets, anchors, nativeCurrencyId: RECORDED_CHAIN.nativeCurrencyId });
      expect([...actual.keys()].sort()).toEqual(Object.keys(backfill ?? {}).sort());
      for (const [currencyId, expected] of Object.entries(backfill ?? {})) {
        const price = formatPrice(actual.get(currencyId)?.usd ?? 0n);
        expect([currencyId, price, isNear(price, expected)]).toEqual([currencyId, price, true]);
      }
    });

    it(`${scenario.name}: ${expectedStamps.length} stamps`, () => {
      expect(expectedStamps.length).toBeGreaterThan(20);
      for (const expected of expectedStamps) {
        const row = folded.stamps.get(`${expected.txid}:${expected.vout}`);
        if (expected.status === 'pending') expect(row).toBeUndefined();
        else expectStamp(row?.stamp, expected);
      }
    });
  }
});

function expectPrice(row: PriceRow | undefined, expected: GoldenPrice, tip: number) {
  if (!row) throw new Error(`no price of ${expected.currencyId}`);
  const { price, mark, ema, block } = row;
  const entries = price.entries.map((entry) => ({ ...entry, price: toPrice(entry.price) }));
  const age = tip - block.height;
  expect({
    tier: price.tier,
    sourceBlock: block.height,
    sourceBasket: mark.sourceBasket,
    baskets: entries.map(({ basket }) => basket.basketId),
    status: priceStatus(age, null),
    confidence: confidence({
      ...mark,
      tier: price.tier,
      entryPrices: entries.map((entry) => entry.price),
      age,
      guard: null,
    }),
  }).toEqual({
    tier: expected.tier,
    sourceBlock: expected.sourceBlock,
    sourceBasket: expected.sourceBasket,
    baskets: expected.baskets.map(({ basketId }) => basketId),
    status: expected.status,
    confidence: expected.confidence,
  });
  expect(formatPrice(mark.usd)).toSatisfy((text: string) => isNear(text, expected.usdPrice));
  expect(formatPrice(ema)).toSatisfy((text: string) => isNear(text, expected.emaPrice));
  expect(formatPrice(mark.totalDepth)).toSatisfy((text: string) => isNear(text, expected.totalDepth));
  for (const [index, basket] of expected.baskets.entries()) {
    expect(formatPrice(entries[index]?.price ?? 0n)).toSatisfy((text: string) => isNear(text, basket.price));
    expect(formatPrice(toPrice(entries[index]?.depth ?? { n: 0n, d: 1n }))).toSatisfy((text: string) =>
      isNear(text, basket.depth),
    );
  }
}

function expectStamp(stamp: Stamp | undefined, expected: GoldenStamp) {
  if (!stamp) throw new Error(`no stamp of ${expected.txid}:${expected.vout}`);
  const { rule, reason, regime, diverged, priceHeight, pricedCurrencyId, priceBasket } = stamp;
  expect({ txid: expected.txid, rule, reason, regime, diverged, priceHeight, pricedCurrencyId, priceBasket }).toEqual({
    txid: expected.txid,
    rule: expected.rule,
    reason: expected.reason,
    regime: expected.regime,
    diverged: expected.diverged,
    priceHeight: expected.priceHeight,
    pricedCurrencyId: expected.pricedCurrencyId,
    priceBasket: expected.priceBasket,
  });
  const columns = [
    [usd(stamp.fromUsd), expected.fromUsd],
    [usd(stamp.toUsd), expected.toUsd],
    [usd(stamp.usdValue), expected.usdValue],
    [stamp.pricedCurrencyUsd === null ? null : formatPrice(stamp.pricedCurrencyUsd), expected.pricedCurrencyUsd],
  ] as const;
  expect(
    columns.filter(([actual, golden]) => !isNearOrNull(actual, golden)),
    expected.txid,
  ).toEqual([]);
}
