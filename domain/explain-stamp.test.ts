import { describe, expect, it } from 'vitest';
import type { StampRow } from '../processors/pricing/stamp.ts';
import { isNear } from '../test/support/processors/pricing/near.ts';
import {
  foldRecording,
  goldenPrices,
  goldenRules,
  recordedFacts,
} from '../test/support/processors/pricing/recorded-pricing.ts';
import { formatDecimal, STAMP_DECIMALS } from './decimal.ts';
import { explainStamp } from './explain-stamp.ts';

const golden = goldenPrices();
const records = recordedFacts();

/** Evaluates with JavaScript's own arithmetic, independent of the code under test. */
function evaluate(expression: string): number {
  expect(expression).toMatch(/^[\d.+*/() ]+$/);
  return Number(new Function(`return ${expression}`)());
}

const usd = (scaled: bigint) => formatDecimal(scaled, STAMP_DECIMALS);

describe.each(golden.scenarios)('stamps of scenario $name', (scenario) => {
  const { stamps } = foldRecording(goldenRules(scenario, golden.anchors), records);
  const explained = [...stamps.values()].map((row: StampRow) => ({ ...row, steps: explainStamp(row.stamp.inputs) }));

  it('have steps whose expressions evaluate to their values', () => {
    expect(explained.length).toBeGreaterThan(20);
    for (const { expression, value } of explained.flatMap(({ steps }) => steps)) {
      const computed = evaluate(expression);
      if (Number(value) === 0) expect(computed).toBe(0);
      else expect([expression, value, isNear(String(computed), value)]).toEqual([expression, value, true]);
    }
  });

  it('refer to the earlier steps whose values their expressions contain, and have no needless steps', () => {
    for (const { steps } of explained) {
      const used = new Set(steps.flatMap(({ uses }) => uses));
      for (const [index, { step, expression, uses }] of steps.entries()) {
        expect(new Set(uses).size).toBe(uses.length);
        for (const place of uses) {
          expect(place).toBeLessThan(index);
          expect(expression.split(/[ ()]+/)).toContain(steps[place]?.value);
        }
        if (step === 'price_in_reserve') expect(used).toContain(index);
        if (step === 'from_usd' || step === 'to_usd') expect(uses).toHaveLength(1);
        if (step === 'mean') expect(uses.length).toBeGreaterThan(1);
        if (step === 'basket_price') expect(uses.length).toBeGreaterThan(0);
        // A price is used by another price or a column, or is the last one of its currency.
        const later = steps.slice(index + 1).some((other) => other.currencyId === steps[index]?.currencyId);
        if (step === 'basket_price' && later) expect(used).toContain(index);
      }
    }
  });

  it('lead from the reserves to the prices and columns of the stamp, exact to the last digit', () => {
    const tiers = new Set<unknown>();
    for (const { stamp, steps } of explained) {
      for (const { currencyId, usd, tier } of stamp.inputs.prices) {
        const ofCurrency = steps.filter((step) => {
          return step.currencyId === currencyId && ['anchor', 'basket_price', 'mean'].includes(step.step);
        });
        expect(ofCurrency.at(-1)?.value).toBe(usd);
        tiers.add(tier);
      }
      if (stamp.reason === 'mirrored') continue; // one side shows the other's column
      const column = (name: string) => steps.find(({ step }) => step === name)?.value;
      if (stamp.fromUsd !== null) expect(column('from_usd')).toBe(usd(stamp.fromUsd));
      if (stamp.toUsd !== null) expect(column('to_usd')).toBe(usd(stamp.toUsd));
    }
    expect(tiers.size).toBeGreaterThan(1);
  });
});
