/** Laws of pairing, over random imports that are built as the protocol would. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { at, PAID_NOTHING, REFUNDED_MINT, vouts } from '../../test/support/processors/outcomes.ts';
import { conversionFee, expectedPayout, type ImportPrices } from './transfer-amounts.ts';
import { pairTransfers, type TransferOutcome } from './transfer-pairing.ts';
import type { Payout } from './transfer-payouts.ts';
import type { TransferTerms } from './transfer-terms.ts';

describe('any import', () => {
  const RESERVES = ['iA', 'iB', 'iC'];
  const price = fc.bigInt(1n, 10n ** 12n);
  const somePrices = fc.record({
    importCurrencyId: fc.constant('iBasket'),
    isBasket: fc.boolean(),
    price: fc.tuple(price, price, price).map((each) => new Map(RESERVES.map((id, index) => [id, at(each, index)]))),
    viaPrice: fc.tuple(price, price, price).map((each) => new Map(RESERVES.map((id, index) => [id, at(each, index)]))),
  });
  const someTransfer = fc.record({
    way: fc.constantFrom('buy', 'sell', 'via', 'preconvert', 'mint', 'burn', 'send'),
    reserve: fc.constantFrom('iA', 'iB'),
    amountIn: fc.oneof(fc.bigInt(1n, 20n), fc.bigInt(1n, 10n ** 18n)),
    isRefund: fc.boolean(),
  });

  /** Builds what the protocol would: terms, the outputs of the import, and the outcome of each transfer. */
  function build(
    prices: ImportPrices,
    wanted: readonly { way: string; reserve: string; amountIn: bigint; isRefund: boolean }[],
  ) {
    const payouts: Payout[] = [];
    const outcomes: TransferOutcome[] = [];
    const emit = (currencyId: string, amount: bigint, address: string): number => {
      const vout = payouts.length + 2;
      const amounts = new Map(amount > 0n ? [[currencyId, amount]] : []);
      payouts.push({ vout, amounts, addresses: [address], isNextLeg: false });
      return vout;
    };
    const transfers = wanted.map(({ way, reserve, amountIn, isRefund }, index): TransferTerms => {
      const kind = way === 'buy' || way === 'sell' ? 'convert' : (way as TransferTerms['kind']);
      const from = way === 'sell' ? 'iBasket' : reserve;
      const destination = `R${String(index + 1).padStart(33, '1')}`;
      const transfer: TransferTerms = {
        kind,
        flags: 1,
        fromCurrencyId: kind === 'mint' ? null : from,
        toCurrencyId: way === 'sell' || way === 'send' || way === 'burn' ? reserve : way === 'via' ? 'iC' : 'iBasket',
        viaCurrencyId: way === 'via' ? 'iBasket' : null,
        importCurrencyId: 'iBasket',
        amountIn,
        transferFee: 20_000n,
        transferFeeCurrencyId: 'iNative',
        conversionFee: conversionFee(kind, amountIn),
        destination,
        destinationSystemId: null,
        importSystemId: null,
      };
      const { currencyId, amount } = expectedPayout(transfer, prices) ?? { currencyId: '', amount: 0n };
      const converts = kind === 'convert' || kind === 'via' || kind === 'preconvert';
      if (isRefund && converts) {
        outcomes.push({
          status: 'refunded',
          amountOut: null,
          payoutVout: emit(from, amountIn, destination),
          reason: null,
        });
      } else if (amount === 0n || (isRefund && kind === 'mint')) {
        if (kind === 'mint') emit(currencyId, 0n, destination);
        outcomes.push(PAID_NOTHING);
      } else {
        const net = amountIn - transfer.conversionFee;
        if (kind === 'preconvert' && !prices.isBasket) emit(from, net, 'iBasket');
        outcomes.push({
          status: 'completed',
          amountOut: amount,
          payoutVout: emit(currencyId, amount, destination),
          reason: null,
        });
      }
      return transfer;
    });
    emit('iNative', 30_000n, 'RMiner');
    const nobodyPaid = outcomes.every(({ status, amountOut }) => status === 'refunded' || amountOut === 0n);
    const isRefundedWhole = nobodyPaid && outcomes.some(({ status }) => status === 'refunded');
    const isRefundedMint = (index: number): boolean => isRefundedWhole && transfers[index]?.kind === 'mint';
    return {
      transfers,
      payouts,
      outcomes: outcomes.map((outcome, index) => (isRefundedMint(index) ? REFUNDED_MINT : outcome)),
    };
  }

  it('is paired as it was built', () => {
    fc.assert(
      fc.property(somePrices, fc.array(someTransfer, { maxLength: 12 }), (prices, wanted) => {
        const { transfers, payouts, outcomes } = build(prices, wanted);
        expect(pairTransfers(transfers, payouts, prices)).toEqual(outcomes);
      }),
      { numRuns: 500 },
    );
  });

  it('uses no output twice and never pays more than an output has, whatever the outputs are', () => {
    const chosen = fc.array(fc.nat({ max: 40 }), { maxLength: 30 });
    fc.assert(
      fc.property(somePrices, fc.array(someTransfer, { maxLength: 12 }), chosen, (prices, wanted, order) => {
        const { transfers, payouts } = build(prices, wanted);
        const kept = [...new Set(order)].flatMap((index) => payouts[index] ?? []);
        const outcomes = pairTransfers(transfers, kept, prices);
        expect(outcomes).toHaveLength(transfers.length);
        const used = vouts(outcomes).filter((vout) => vout !== null);
        expect(new Set(used).size).toBe(used.length);
        for (const [index, outcome] of outcomes.entries()) {
          const paid = kept.find(({ vout }) => vout === outcome.payoutVout);
          expect(paid !== undefined).toBe(outcome.payoutVout !== null);
          if (outcome.status === 'completed' && paid) {
            expect(paid.amounts.get(at(transfers, index).toCurrencyId)).toBe(outcome.amountOut);
          }
          expect(outcome.reason !== null).toBe(outcome.status === 'unmatched');
        }
      }),
      { numRuns: 500 },
    );
  });
});
