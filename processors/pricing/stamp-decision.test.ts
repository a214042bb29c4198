/** The golden decisions, the completeness and exclusiveness of the rule table, and laws of every decision. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDecimal, STAMP_DECIMALS } from '../../domain/decimal.ts';
import type { Side } from '../../domain/stamps.ts';
import { type GoldenSideKind, goldenSide } from '../../test/support/processors/pricing/golden-side.ts';
import { recordedText } from '../../test/support/processors/recorded-chain.ts';
import { type ConversionSide, decideBurn, decideConversion, decideMint } from './stamp-decision.ts';
import { applies, RULES, type SideKind } from './stamp-rules.ts';

interface SyntheticStamp {
  readonly name: string;
  readonly regime: 'live' | 'backfill';
  readonly from: GoldenSideKind;
  readonly to: GoldenSideKind;
  readonly amountIn: string;
  readonly amountOut: string;
  readonly usdFrom: string | null;
  readonly usdTo: string | null;
  readonly outOfBounds: readonly Side[];
  readonly expect: {
    readonly rule: string;
    readonly fromUsd: string | null;
    readonly toUsd: string | null;
    readonly usdValue: string | null;
    readonly pricedSide: Side | null;
    readonly diverged: boolean;
    readonly reason: string | null;
  };
}

const { cases }: { cases: SyntheticStamp[] } = JSON.parse(recordedText('golden/stamps-synthetic.json'));

const usd = (scaled: bigint | null) => (scaled === null ? null : formatDecimal(scaled, STAMP_DECIMALS));

describe('golden decisions', () => {
  it.each(cases)('$name', (given) => {
    const from = goldenSide('FROM', given.from, given.amountIn, given.usdFrom);
    const to = goldenSide('TO', given.to, given.amountOut, given.usdTo);
    const truthDecides = given.regime === 'backfill';
    const { decidedBy, ...decision } = decideConversion(from, to, { truthDecides, outOfBounds: given.outOfBounds });
    const columns = { fromUsd: usd(decision.fromUsd), toUsd: usd(decision.toUsd), usdValue: usd(decision.usdValue) };
    expect({ ...decision, ...columns, pricedSide: decidedBy }).toEqual(given.expect);
  });
});

const kind: fc.Arbitrary<SideKind> = fc.record({
  isAnchor: fc.boolean(),
  isNative: fc.boolean(),
  isBasket: fc.boolean(),
});
const satoshis = fc.bigInt({ min: 0n, max: 10n ** 18n });
const price = fc.option(fc.bigInt({ min: 0n, max: 10n ** 36n }));
const anySide = (currencyId: string): fc.Arbitrary<ConversionSide> =>
  fc
    .record({ kind, amount: satoshis, price })
    .map(({ kind, ...rest }) => ({ currencyId, priceBasket: null, ...kind, ...rest }));
const options = fc.record({
  truthDecides: fc.boolean(),
  outOfBounds: fc.subarray<Side>(['from', 'to']),
});

describe('the rule table', () => {
  it('has exactly one row for every conversion', () => {
    const flags = [false, true];
    const kinds = flags.flatMap((isAnchor) =>
      flags.flatMap((isNative) => flags.map((isBasket) => ({ isAnchor, isNative, isBasket }))),
    );
    for (const from of kinds) {
      for (const to of kinds) {
        expect(RULES.filter(({ when }) => applies(when, from, to))).toHaveLength(1);
      }
    }
  });
});

describe('every decision', () => {
  it('has exactly the value of the side that decided, or a reason for having none', () => {
    fc.assert(
      fc.property(anySide('FROM'), anySide('TO'), options, (from, to, given) => {
        const { decidedBy, usdValue, rule, reason } = decideConversion(from, to, given);
        if (decidedBy === null) {
          expect([rule, usdValue]).toEqual(['unpriced', null]);
          expect(['basket_to_basket', 'no_price', 'out_of_bounds']).toContain(reason);
        } else {
          const decided = decidedBy === 'from' ? from : to;
          expect(rule).not.toBe('unpriced');
          expect(usdValue).toBe(decided.amount * (decided.price ?? -1n));
          expect([null, 'mirrored']).toContain(reason);
        }
      }),
    );
  });

  it('shows each side by its own price unless it was mirrored', () => {
    fc.assert(
      fc.property(anySide('FROM'), anySide('TO'), fc.boolean(), (from, to, truthDecides) => {
        const { fromUsd, toUsd } = decideConversion(from, to, { truthDecides, outOfBounds: [] });
        expect(fromUsd).toBe(from.price === null ? null : from.amount * from.price);
        expect(toUsd).toBe(to.price === null || to.amount === 0n ? null : to.amount * to.price);
      }),
    );
  });

  it('is the same in both regimes while neither side is native', () => {
    fc.assert(
      fc.property(anySide('FROM'), anySide('TO'), (from, to) => {
        fc.pre(!from.isNative && !to.isNative);
        const live = decideConversion(from, to);
        expect(decideConversion(from, to, { truthDecides: true, outOfBounds: [] })).toEqual(live);
      }),
    );
  });
});

describe('a settled transfer that is not a trade', () => {
  it('shows one side and has no value', () => {
    const burnt = decideBurn(goldenSide('FROM', 'other', '3', '7'));
    expect(burnt).toMatchObject({ rule: 'unpriced', reason: 'burn', usdValue: null, toUsd: null, decidedBy: null });
    expect(usd(burnt.fromUsd)).toBe('21');
    const minted = decideMint(goldenSide('TO', 'other', '3', '7'));
    expect(minted).toMatchObject({ rule: 'unpriced', reason: 'mint', usdValue: null, fromUsd: null, decidedBy: null });
    expect(usd(minted.toUsd)).toBe('21');
    expect(decideBurn(goldenSide('FROM', 'other', '3', null)).fromUsd).toBeNull();
  });
});
