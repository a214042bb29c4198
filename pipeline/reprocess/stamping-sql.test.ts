/** The statement and the live function give the same stamps, to the last digit, for golden decisions and made-up ones. */

import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { formatDecimal, formatPrice, parseDecimal, STAMP_DECIMALS } from '../../domain/decimal.ts';
import type { Regime, Side } from '../../domain/stamps.ts';
import type { CsvValue } from '../../infra/clickhouse/csv.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Stores } from '../../infra/stores.ts';
import { isOutOfBounds, isOutsideLimits } from '../../processors/pricing/backfill-bounds.ts';
import { isDoubtful } from '../../processors/pricing/backfill-fold.ts';
import { decideStamp, type StampBasis } from '../../processors/pricing/stamp.ts';
import type { ConversionSide } from '../../processors/pricing/stamp-decision.ts';
import { createTestStores } from '../../test/support/infra/test-stores.ts';
import { type GoldenSideKind, goldenSide } from '../../test/support/processors/pricing/golden-side.ts';
import { recordedText } from '../../test/support/processors/recorded-chain.ts';
import { stampAll } from './stamp-all.ts';
import { STAMP_PRICE_COLUMNS } from './stamp-prices.ts';
import { stampedSql } from './stamping-sql.ts';

interface Case {
  readonly kind: 'convert' | 'via' | 'preconvert' | 'burn' | 'mint';
  readonly status: 'completed' | 'refunded';
  readonly regime: Regime;
  readonly from: ConversionSide;
  readonly to: ConversionSide;
  /** Twice the median that bounds a side's price; null when there is none. */
  readonly medians: Readonly<Record<Side, bigint | null>>;
  readonly isClosed: boolean;
}

const CLOCK_DAY = 20_000;
const NO_INPUTS = { from: null, to: null, prices: [], baskets: [], anchors: [] };

let stores: Stores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores.close());

function basisOf({ kind, status, regime, from, to }: Case): StampBasis {
  const isRefund = status === 'refunded';
  return {
    kind: isRefund ? 'refund' : kind === 'burn' || kind === 'mint' ? kind : 'conversion',
    regime,
    height: 0,
    from: isRefund || kind === 'mint' ? null : from,
    to: isRefund || kind === 'burn' ? null : to,
    inputs: NO_INPUTS,
  };
}

function expected(given: Case) {
  const basis = basisOf(given);
  const canDoubt = basis.kind === 'conversion' && given.regime === 'backfill';
  const doubtful = (['from', 'to'] as const).filter((side) => canDoubt && isDoubtful(basis[side]));
  const doubted = doubtful.filter((side) => {
    const twiceMedian = given.medians[side];
    if (isOutsideLimits(given[side])) return true;
    return twiceMedian !== null && isOutOfBounds(given[side].price ?? 0n, { twiceMedian, days: 1 });
  });
  return { ...decideStamp(basis, doubted), provisional: doubtful.length > 0 && !given.isClosed };
}

async function byStatement(cases: readonly Case[], hasBackfill: boolean, mostInMemory?: number) {
  const { clickhouse } = stores;
  for (const table of ['stamp_prices', 'stamp_bounds', 'conversions'])
    await clickhouse.command(`TRUNCATE TABLE ${table}`);
  const conversions: CsvValue[][] = [];
  const prices: CsvValue[][] = [];
  const bounds: CsvValue[][] = [];
  for (const [tick, given] of cases.entries()) {
    const day = given.isClosed ? CLOCK_DAY - 16 : CLOCK_DAY - 15;
    const ids = { from: given.kind === 'mint' ? '' : `F${tick}`, to: `T${tick}` };
    const txid = tick.toString(16).padStart(64, '0');
    const { kind, status, from, to } = given;
    conversions.push([
      1,
      'vrsc',
      txid,
      0,
      tick,
      kind,
      status,
      ids.from,
      ids.to,
      from.amount,
      to.amount,
      day * 86_400 + 7,
    ]);
    for (const side of ['from', 'to'] as const) {
      const { price, isAnchor, isNative, isBasket } = given[side];
      if (ids[side] === '') continue;
      const usd = price === null ? null : formatDecimal(price, STAMP_DECIMALS);
      const isOutside = isOutsideLimits(given[side]);
      prices.push([2, tick, ids[side], given.regime, usd, '', isAnchor, isNative, isBasket, '', isOutside, '']);
      const median = given.medians[side];
      if (median !== null) bounds.push([2, 'vrsc', ids[side], day, formatPrice(median), 1]);
    }
  }
  const named = ['generation', 'chain', 'txid', 'vout', 'tick', 'kind', 'status', 'from_currency_id', 'to_currency_id'];
  await clickhouse.insert('conversions', [...named, 'amount_in', 'amount_out', 'time'], conversions);
  await clickhouse.insert('stamp_prices', STAMP_PRICE_COLUMNS, prices);
  const ofBounds = ['generation', 'chain', 'currency_id', 'day', 'twice_median', 'days'];
  await clickhouse.insert('stamp_bounds', ofBounds, bounds);
  const days = new Map([['vrsc', CLOCK_DAY]]);
  await stampAll(clickhouse, { generation: 2, base: 1, high: cases.length, hasBackfill, days }, mostInMemory);
  const written = await clickhouse.query(
    `SELECT toUInt32(tick) AS tick, from_usd, to_usd, usd_value, rule, reason, regime, diverged, provisional FROM conversions
     WHERE generation = 2 ORDER BY tick`,
  );
  const decided = await clickhouse.rows(
    rowReader({ decided_by: columns.number }),
    `SELECT decided_by FROM (${stampedSql({ hasBackfill })}) ORDER BY tick`,
    { base: 1, generation: 2, low: 0, high: cases.length, chains: ['vrsc'], days: [CLOCK_DAY] },
  );
  const usd = (text: unknown) => (text === null ? null : parseDecimal(String(text), STAMP_DECIMALS));
  return written.map((row, index) => ({
    regime: row.regime,
    fromUsd: usd(row.from_usd),
    toUsd: usd(row.to_usd),
    usdValue: usd(row.usd_value),
    rule: row.rule,
    reason: row.reason === '' ? null : row.reason,
    decidedBy: [null, 'from', 'to'][decided[index]?.decided_by ?? 0],
    diverged: row.diverged,
    provisional: row.provisional,
  }));
}

const price = fc.option(fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 36n }), fc.bigInt({ min: 0n, max: 50n })), {
  freq: 5,
});
const side = fc.record({
  currencyId: fc.constant(''),
  amount: fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 18n }), fc.bigInt({ min: 0n, max: 3n })),
  price,
  priceBasket: fc.constant(null),
  isAnchor: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  isNative: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  isBasket: fc.boolean(),
  limits: fc.oneof(
    { weight: 6, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.constantFrom({ max: '1' }, { min: '1' }, { min: '0.1', max: '1000' }) },
  ),
});
/** Medians that put the price at both bounds, and on both sides of them. */
const medianOf = ({ price }: ConversionSide, factor: number): bigint | null => {
  const usd = price ?? 1n;
  return [null, 2n * usd, 20n * usd, 20n * usd + 1n, usd / 5n, usd / 5n + 1n, (2n * usd) / 11n, 0n][factor] ?? null;
};
const cases: fc.Arbitrary<Case> = fc
  .record({
    kind: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('convert' as const, 'via' as const, 'preconvert' as const) },
      { weight: 1, arbitrary: fc.constantFrom('burn' as const, 'mint' as const) },
    ),
    status: fc.oneof(
      { weight: 9, arbitrary: fc.constant('completed' as const) },
      { weight: 1, arbitrary: fc.constant('refunded' as const) },
    ),
    regime: fc.constantFrom('live' as const, 'backfill' as const),
    from: side,
    to: side,
    // A payout worth about what was given, because the sides disagree from ten percent on.
    alike: fc.option(fc.constantFrom(900n, 901n, 899n, 1000n, 1111n, 1112n), { freq: 2 }),
    factors: fc.tuple(fc.nat({ max: 7 }), fc.nat({ max: 7 })),
    isClosed: fc.boolean(),
  })
  .map(({ alike, factors, from, to: unrelated, ...rest }) => {
    const to =
      alike === null || from.price === null
        ? unrelated
        : { ...unrelated, amount: from.amount, price: (from.price * alike) / 1000n };
    return { ...rest, from, to, medians: { from: medianOf(from, factors[0]), to: medianOf(to, factors[1]) } };
  });

it('agrees on made-up conversions', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(cases, { minLength: 1500, maxLength: 1500 }), async (list) => {
      const stamped = await byStatement(list, true);
      expect(stamped).toEqual(list.map((given) => ({ regime: given.regime, ...expected(given) })));
      expect(new Set(stamped.map(({ rule, reason }) => `${rule} ${reason}`)).size).toBeGreaterThan(11);
    }),
    { numRuns: 2, endOnFailure: true },
  );
});

it('agrees when no block is of the backfill regime, and when there are too many prices for memory', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(cases, { minLength: 500, maxLength: 500 }), async (list) => {
      const live = list.map((given) => ({ ...given, regime: 'live' as const }));
      const stamped = await byStatement(live, false, 0);
      expect(stamped).toEqual(live.map((given) => ({ regime: 'live', ...expected(given) })));
    }),
    { numRuns: 1, endOnFailure: true },
  );
});

it('does not touch conversions that count as refunded for lack of a payout, in either generation, also when run again', async () => {
  const { clickhouse } = stores;
  await clickhouse.command('TRUNCATE TABLE conversions');
  const columns = ['generation', 'chain', 'txid', 'vout', 'tick', 'kind', 'status', 'reason'];
  const row = (generation: number, vout: number, reason: string) => {
    return [generation, 'vrsc', 'f'.repeat(64), vout, vout, 'convert', 'refunded', reason];
  };
  const rows = [row(1, 0, 'no_delivery'), row(1, 1, 'refunded'), row(2, 2, 'no_delivery'), row(2, 3, 'refunded')];
  await clickhouse.insert('conversions', columns, rows);
  const all = { generation: 2, base: 1, high: 9, hasBackfill: false, days: new Map([['vrsc', CLOCK_DAY]]) };
  for (let run = 0; run < 2; run++) {
    await stampAll(clickhouse, all);
    const held = await clickhouse.query(
      `SELECT concat(toString(generation), ' ', toString(vout), ' ', reason) AS row FROM conversions ORDER BY row`,
    );
    expect(held.map(({ row }) => row)).toEqual(['1 0 no_delivery', '1 1 refunded', '2 1 refunded', '2 2 no_delivery']);
  }
});

interface GoldenDecision {
  readonly regime: Regime;
  readonly from: GoldenSideKind;
  readonly to: GoldenSideKind;
  readonly amountIn: string;
  readonly amountOut: string;
  readonly usdFrom: string | null;
  readonly usdTo: string | null;
  readonly outOfBounds: readonly Side[];
  readonly expect: Readonly<
    Record<'rule' | 'reason' | 'fromUsd' | 'toUsd' | 'usdValue' | 'pricedSide', string | null>
  > & {
    readonly diverged: boolean;
  };
}

it('gives the golden decisions', async () => {
  const golden: GoldenDecision[] = JSON.parse(recordedText('golden/stamps-synthetic.json')).cases;
  const list = golden.map((given): Case => {
    const [from, to] = [
      goldenSide('', given.from, given.amountIn, given.usdFrom),
      goldenSide('', given.to, given.amountOut, given.usdTo),
    ];
    const median = (side: Side, { price }: ConversionSide) =>
      given.outOfBounds.includes(side) ? 21n * (price ?? 0n) : null;
    const medians = { from: median('from', from), to: median('to', to) };
    return { kind: 'convert', status: 'completed', regime: given.regime, from, to, medians, isClosed: true };
  });
  const usd = (text: string | null) => (text === null ? null : parseDecimal(text, STAMP_DECIMALS));
  expect(await byStatement(list, true)).toEqual(
    golden.map(({ regime, expect: { fromUsd, toUsd, usdValue, pricedSide, ...rest } }) => ({
      ...rest,
      regime,
      fromUsd: usd(fromUsd),
      toUsd: usd(toUsd),
      usdValue: usd(usdValue),
      decidedBy: pricedSide,
      provisional: false,
    })),
  );
});
