/** Follows a backfill stamp from its import to the day on which its bounds close. */
import { describe, expect, it } from 'vitest';
import type { BasketState } from '../../domain/basket-state.ts';
import { ONE } from '../../domain/rational.ts';
import { SECONDS_PER_DAY } from '../../domain/time.ts';
import type { TransferFact } from '../../schemas/facts.ts';
import { type ChainView, type PricedBlock, viewOf } from './chain-view.ts';
import { createPriceFold, emptyFoldState, type PriceFold } from './price-fold.ts';
import { regimePlan } from './regime-plan.ts';
import type { StampRow } from './stamp.ts';

const COIN = 100_000_000n;
const DAY_ZERO = 20_000;
const rules = {
  chains: [{ name: 'vrsc', nativeCurrencyId: 'NATIVE', minBasketAge: 0 }],
  anchors: new Set(['USD']),
  minBasketDepth: ONE,
  regimes: regimePlan((DAY_ZERO + 100) * SECONDS_PER_DAY),
  priceLimits: {},
};

/** A view with a basket in which A is worth `usd`. */
function viewAt(height: number, usd: bigint): ChainView {
  const half = COIN / 2n;
  const reserves = [
    { currencyId: 'USD', reserves: 1000n * usd * COIN, weight: half },
    { currencyId: 'A', reserves: 1000n * COIN, weight: half },
  ];
  const basket: BasketState = {
    chain: 'vrsc',
    basketId: 'B',
    height,
    flags: 49,
    supply: 1000n * COIN,
    reserves,
    liveHeight: 0,
  };
  return viewOf('vrsc', height, new Map([['B', basket]]), new Map([['B', true]]));
}

/** 3 A for 20 NATIVE, which has no price. */
const transfer = {
  txid: 'aa',
  vout: 0,
  kind: 'via',
  status: 'completed',
  fromCurrencyId: 'A',
  toCurrencyId: 'NATIVE',
  amountIn: 3n * COIN,
  amountOut: 20n * COIN,
} as TransferFact;

function play(fold: PriceFold, day: number, usd: bigint, transfers: readonly TransferFact[] = []): readonly StampRow[] {
  const time = (DAY_ZERO + day) * SECONDS_PER_DAY + 60;
  const block: PricedBlock = {
    chain: 'vrsc',
    position: day,
    height: day,
    hash: '',
    time,
    clock: time,
    states: [],
    currencies: [],
    transfers,
  };
  const { stamps } = fold.tick(day, block, [viewAt(day, usd)]);
  return [...stamps, ...fold.corrections()];
}

const shown = (rows: readonly StampRow[]) =>
  rows.map(({ stamp }) => [stamp.rule, stamp.reason, stamp.fromUsd && stamp.fromUsd / 10n ** 38n, stamp.provisional]);

describe('a stamp of the backfill regime', () => {
  it('is decided by the days around it even when the clock leaps far beyond them', () => {
    const fold = createPriceFold(rules, emptyFoldState());
    play(fold, 0, 500n, [transfer]);
    play(fold, 1, 40n);
    play(fold, 2, 40n);
    expect(shown(play(fold, 60, 40n))).toEqual([['unpriced', 'out_of_bounds', null, false]]);
  });

  it('is corrected once when the following days make its price unbelievable', () => {
    const fold = createPriceFold(rules, emptyFoldState());
    expect(shown(play(fold, 0, 500n, [transfer]))).toEqual([['to_side', null, 1500n, true]]);
    expect(play(fold, 1, 40n)).toEqual([]); // median of 500 and 40 is 270
    expect(shown(play(fold, 2, 40n))).toEqual([['unpriced', 'out_of_bounds', null, true]]);
    expect(play(fold, 3, 40n)).toEqual([]);
  });

  it('is restored when the median returns', () => {
    const fold = createPriceFold(rules, emptyFoldState());
    play(fold, 0, 500n, [transfer]);
    play(fold, 1, 40n);
    play(fold, 2, 40n);
    expect(shown(play(fold, 3, 500n))).toEqual([['to_side', null, 1500n, true]]);
    expect(play(fold, 4, 500n)).toEqual([]);
  });

  it('is final 15 days later, and has the bounds that applied to it', () => {
    const fold = createPriceFold(rules, emptyFoldState());
    play(fold, 0, 500n, [transfer]);
    for (let day = 1; day <= 15; day++) expect(play(fold, day, 500n)).toEqual([]);
    const [row] = play(fold, 16, 40n);
    expect(shown(row ? [row] : [])).toEqual([['to_side', null, 1500n, false]]);
    expect(row?.stamp.inputs.bounds).toEqual({ A: { median: '500', days: 16 } });
    expect(play(fold, 17, 40n)).toEqual([]);
  });

  it.each([
    [{ max: '499.9' }, ['unpriced', 'out_of_bounds', null, true]],
    [{ min: '500.1' }, ['unpriced', 'out_of_bounds', null, true]],
    [{ min: '500', max: '500' }, ['to_side', null, 1500n, true]],
  ])('does not believe a price outside the configured limits %j', (limits, expected) => {
    const fold = createPriceFold({ ...rules, priceLimits: { A: limits } }, emptyFoldState());
    const row = play(fold, 0, 500n, [transfer]).at(-1);
    expect(shown(row ? [row] : [])).toEqual([expected]);
    expect(row?.stamp.inputs.from?.limits).toEqual(limits);
  });

  it('is final at once when no bounds apply', () => {
    const fold = createPriceFold(rules, emptyFoldState());
    const dollars = { ...transfer, fromCurrencyId: 'USD' };
    expect(shown(play(fold, 0, 500n, [dollars]))).toEqual([['stable_in', null, 3n, false]]);
    const burnt = { ...transfer, kind: 'burn' } as TransferFact;
    expect(shown(play(fold, 1, 500n, [burnt]))).toEqual([['unpriced', 'burn', 1500n, false]]);
  });
});
