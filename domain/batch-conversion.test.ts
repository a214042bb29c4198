/** Compares estimates with what the recorded daemon paid, and checks laws that hold for any batch. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TransferFact } from '../schemas/facts.ts';
import { foldRecording } from '../test/support/processors/recorded-fold.ts';
import { type BatchBasket, type BatchConversion, estimateBatch } from './batch-conversion.ts';

function isConversion(transfer: TransferFact): transfer is TransferFact & BatchConversion {
  return transfer.kind === 'convert' || transfer.kind === 'via';
}

interface Estimated {
  readonly transfer: TransferFact;
  readonly estimate: bigint | null;
  /** How many conversions its import executed. */
  readonly together: number;
}

/** Estimates every import of the recording from the reserves right before it. */
function estimatesOfRecording(): Estimated[] {
  const { derived } = foldRecording();
  const states = new Map<string, BatchBasket>();
  const found: Estimated[] = [];
  for (const { facts } of derived) {
    const paid = facts.filter((fact) => fact.type === 'transfer').filter(({ status }) => status === 'completed');
    for (const [importTxid, all] of Map.groupBy(paid, ({ importTxid }) => importTxid)) {
      const together = all.filter(isConversion);
      const basket = states.get(all[0]?.importCurrencyId ?? '');
      if (!basket || importTxid === null || together.length === 0) continue;
      const estimates = estimateBatch(basket, together);
      for (const [index, transfer] of together.entries()) {
        found.push({ transfer, estimate: estimates[index] ?? null, together: together.length });
      }
    }
    for (const fact of facts) if (fact.type === 'currency_state') states.set(fact.currencyId, fact);
  }
  return found;
}

const partOf = (estimate: bigint, paid: bigint) => Math.abs(Number(estimate - paid)) / Number(paid);

/** Maps each share to the quantile of the errors at that share. */
function quantiles(errors: readonly number[], shares: readonly number[]): number[] {
  const sorted = [...errors].sort((a, b) => a - b);
  return shares.map((share) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN);
}

it('comes close to what the recorded daemon paid, although its baskets are small and its conversions large', () => {
  const estimated = estimatesOfRecording().filter(({ transfer }) => (transfer.amountOut ?? 0n) >= 1_000n);
  const errorsOf = (fits: (one: Estimated) => boolean) =>
    estimated
      .filter(fits)
      .map(({ transfer, estimate }) => (estimate === null ? 1 : partOf(estimate, transfer.amountOut ?? 0n)));
  const single = errorsOf(({ together }) => together === 1);
  const direct = errorsOf(({ together, transfer }) => together > 1 && transfer.kind === 'convert');
  const via = errorsOf(({ together, transfer }) => together > 1 && transfer.kind === 'via');
  expect([single.length > 25, direct.length > 100, via.length > 50]).toEqual([true, true, true]);
  const [singleMost = 1] = quantiles(single, [0.95]);
  const [directHalf = 1, directMost = 1] = quantiles(direct, [0.5, 0.9]);
  const [viaHalf = 1, viaMost = 1] = quantiles(via, [0.5, 0.9]);
  expect(singleMost).toBeLessThan(1e-4);
  expect([directHalf < 0.001, directMost < 0.05]).toEqual([true, true]);
  expect([viaHalf < 0.01, viaMost < 0.08]).toEqual([true, true]);
});

const COIN = 100_000_000n;
const BASKET: BatchBasket = {
  currencyId: 'basket',
  supply: 1_000_000n * COIN,
  reserves: [
    { currencyId: 'a', weight: COIN / 2n, reserves: 500_000n * COIN },
    { currencyId: 'b', weight: COIN / 4n, reserves: 10_000n * COIN },
    { currencyId: 'c', weight: COIN / 4n, reserves: 900_000n * COIN },
  ],
};
const currency = fc.constantFrom('a', 'b', 'c', 'basket');
const conversion = fc
  .record({ from: currency, to: currency, amount: fc.bigInt({ min: 1n, max: 2_000n * COIN }) })
  .filter(({ from, to }) => from !== to)
  .map(({ from: fromCurrencyId, to: toCurrencyId, amount: amountIn }): BatchConversion => {
    const kind = fromCurrencyId === 'basket' || toCurrencyId === 'basket' ? 'convert' : 'via';
    const conversionFee = (kind === 'via' ? 2n : 1n) * (amountIn / 4_000n);
    return { kind, fromCurrencyId, toCurrencyId, amountIn, conversionFee };
  });
const batch = fc.array(conversion, { minLength: 1, maxLength: 12 });

it('estimates the same in any order, and never pays more than the basket has', () => {
  fc.assert(
    fc.property(batch, fc.nat(), (conversions, at) => {
      const outputs = estimateBatch(BASKET, conversions);
      expect(outputs.every((output) => output !== null)).toBe(true);
      const turned = [...conversions.slice(at % conversions.length), ...conversions.slice(0, at % conversions.length)];
      const again = estimateBatch(BASKET, turned);
      turned.forEach((one, index) => {
        const before = outputs[conversions.indexOf(one)] ?? 0n;
        const difference = (again[index] ?? 0n) - before;
        expect(difference * difference <= 1n + (before / 1_000_000_000n) ** 2n + 4n).toBe(true);
      });
      for (const { currencyId, reserves } of BASKET.reserves) {
        const sum = (of: (one: BatchConversion, index: number) => bigint) =>
          conversions.reduce((total, one, index) => total + of(one, index), 0n);
        const paidIn = sum((one) => (one.fromCurrencyId === currencyId ? one.amountIn : 0n));
        const paidOut = sum((one, index) => (one.toCurrencyId === currencyId ? (outputs[index] ?? 0n) : 0n));
        expect(paidOut).toBeLessThan(reserves + paidIn);
      }
    }),
  );
});

it('has no estimate for what the basket does not convert or cannot cover', () => {
  const one = {
    kind: 'convert',
    fromCurrencyId: 'a',
    toCurrencyId: 'basket',
    amountIn: COIN,
    conversionFee: 0n,
  } as const;
  expect(estimateBatch(BASKET, [{ ...one, fromCurrencyId: 'x' }])).toEqual([null]);
  expect(estimateBatch({ ...BASKET, supply: 0n }, [one])).toEqual([null]);
  const all = { ...one, fromCurrencyId: 'basket', toCurrencyId: 'b', amountIn: 100n * BASKET.supply };
  expect(estimateBatch(BASKET, [all])).toEqual([null]);
  expect(estimateBatch({ ...BASKET, reserves: [] }, [one])).toEqual([null]);
});
