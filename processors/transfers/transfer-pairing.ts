/** Finds which output of an import pays which transfer. The outputs do not name their transfers: amounts and order decide. */
import { TRANSPARENT_ADDRESS } from '../../domain/addresses.ts';
import { TRANSFER_FLAGS } from '../../domain/flags.ts';
import type { TransferFact } from '../../schemas/facts.ts';
import { type ExpectedPayout, expectedPayout, type ImportPrices, netAmount } from './transfer-amounts.ts';
import type { Payout } from './transfer-payouts.ts';
import type { TransferTerms } from './transfer-terms.ts';

export type TransferOutcome = Pick<TransferFact, 'status' | 'amountOut' | 'payoutVout' | 'reason'>;

/** Key hash, script hash and identity addresses: the protocol pays them directly, never an address in their place. */
const ADDRESS = new RegExp(`^${TRANSPARENT_ADDRESS}$`);

const NOTHING_PAID: TransferOutcome = { status: 'completed', amountOut: 0n, payoutVout: null, reason: null };
/** A mint paid nothing in, so its refund returns nothing either. */
const NOTHING_MINTED: TransferOutcome = { status: 'refunded', amountOut: null, payoutVout: null, reason: null };

/** The outcome of each transfer of an import, in their order. */
export function pairTransfers(
  transfers: readonly TransferTerms[],
  payouts: readonly Payout[],
  prices: ImportPrices,
): TransferOutcome[] {
  const outcomes = pairPayouts(transfers, payouts, prices);
  if (!isRefundedWhole(transfers, outcomes)) return outcomes;
  return outcomes.map((outcome, index) => (transfers[index]?.kind === 'mint' ? NOTHING_MINTED : outcome));
}

/**
 * Payouts follow the order of the transfers, so each transfer is compared with the next payout. From the first transfer on that
 * is neither paid nor refunded by it, payouts are found by destination and amount.
 */
function pairPayouts(
  transfers: readonly TransferTerms[],
  payouts: readonly Payout[],
  prices: ImportPrices,
): TransferOutcome[] {
  // An empty output is not a payout: it is an accompanying identity or currency, or a second leg rounded down to 0.
  const empty = payouts.filter(({ amounts }) => amounts.size === 0);
  const paying = payouts.filter(({ amounts }) => amounts.size > 0);
  const outcomes: TransferOutcome[] = [];
  let cursor = 0;
  for (const [index, transfer] of transfers.entries()) {
    const expected = expectedPayout(transfer, prices);
    const found = matchNext(transfer, expected, paying.slice(cursor, cursor + 2), prices, empty);
    if (!found) {
      const rest = searchByDestination(transfers.slice(index), paying.slice(cursor), prices, empty);
      return [...outcomes, ...rest];
    }
    outcomes.push(found.outcome);
    cursor += found.taken;
  }
  return outcomes;
}

interface Match {
  readonly outcome: TransferOutcome;
  /** Payouts used up. */
  readonly taken: number;
}

function matchNext(
  transfer: TransferTerms,
  expected: ExpectedPayout | null,
  [next, second]: readonly Payout[],
  prices: ImportPrices,
  empty: readonly Payout[],
): Match | null {
  const refund = next !== undefined && returnsInput(next, transfer) ? refunded(next) : null;
  if (refund && transfer.flags & TRANSFER_FLAGS.REFUND) return { outcome: refund, taken: 1 };
  if (expected?.amount === 0n) {
    // An import that was refunded as a whole returns dust, too.
    return refund ? { outcome: refund, taken: 1 } : { outcome: NOTHING_PAID, taken: 0 };
  }
  if (expected && next) {
    if (pays(next, transfer, expected)) return { outcome: completed(next, expected), taken: 1 };
    if (second && isProceeds(next, transfer, prices) && pays(second, transfer, expected)) {
      return { outcome: completed(second, expected), taken: 2 };
    }
  }
  if (refund) return { outcome: refund, taken: 1 };
  return isCancelledMint(transfer, empty) ? { outcome: NOTHING_PAID, taken: 0 } : null;
}

/** The position is meaningless here, so an output must also reach the transfer's destination. Each output is used once. */
function searchByDestination(
  transfers: readonly TransferTerms[],
  payouts: readonly Payout[],
  prices: ImportPrices,
  empty: readonly Payout[],
): TransferOutcome[] {
  const left = new Set(payouts);
  const take = (fits: (payout: Payout) => boolean): Payout | undefined => {
    const found = [...left].find(fits);
    if (found) left.delete(found);
    return found;
  };
  return transfers.map((transfer) => {
    const expected = expectedPayout(transfer, prices);
    if (expected && expected.amount > 0n) {
      const paid = take((payout) => reaches(payout, transfer) && pays(payout, transfer, expected));
      if (paid) return transfer.flags & TRANSFER_FLAGS.REFUND ? refunded(paid) : completed(paid, expected);
    }
    const returned = take((payout) => reaches(payout, transfer) && returnsInput(payout, transfer));
    if (returned) return refunded(returned);
    if (expected?.amount === 0n || isCancelledMint(transfer, empty)) return NOTHING_PAID;
    return unmatched(transfer, expected);
  });
}

function pays(payout: Payout, transfer: TransferTerms, { currencyId, amount }: ExpectedPayout): boolean {
  return mayReach(payout, transfer) && holds(payout, transfer, currencyId, amount);
}

/** A burn stays burnt whatever the outcome of the import. */
function returnsInput(payout: Payout, transfer: TransferTerms): boolean {
  const { kind, fromCurrencyId, amountIn } = transfer;
  if (kind === 'burn' || fromCurrencyId === null || amountIn === 0n) return false;
  return mayReach(payout, transfer) && holds(payout, transfer, fromCurrencyId, amountIn);
}

function holds(payout: Payout, transfer: TransferTerms, currencyId: string, amount: bigint): boolean {
  const held = payout.amounts.get(currencyId);
  if (held === undefined) return false;
  // A next leg that could not be made ends on this chain, with the fee that was reserved for it on top.
  if (transfer.destinationSystemId !== null && !payout.isNextLeg) return held >= amount;
  return held === amount && payout.amounts.size === 1;
}

function reaches(payout: Payout, { destination }: TransferTerms): boolean {
  return destination !== null && payout.addresses.includes(destination);
}

/** A payout to another kind of address (Ethereum, a bare public key) may go to an auxiliary address instead. */
function mayReach(payout: Payout, transfer: TransferTerms): boolean {
  return reaches(payout, transfer) || transfer.destination === null || !ADDRESS.test(transfer.destination);
}

/** For a currency that is not a basket, its own id receives the payment before the tokens are paid out. */
function isProceeds(payout: Payout, transfer: TransferTerms, prices: ImportPrices): boolean {
  if (transfer.kind !== 'preconvert' || prices.isBasket || transfer.fromCurrencyId === null) return false;
  const held = payout.amounts.get(transfer.fromCurrencyId) ?? 0n;
  return held > 0n && held <= netAmount(transfer) && payout.addresses.includes(prices.importCurrencyId);
}

/** No payout exists, and a sender got back an amount that no export had marked as a refund. */
function isRefundedWhole(transfers: readonly TransferTerms[], outcomes: readonly TransferOutcome[]): boolean {
  return (
    outcomes.every(({ status, amountOut }) => status === 'refunded' || amountOut === 0n) &&
    outcomes.some(
      ({ status }, index) => status === 'refunded' && !((transfers[index]?.flags ?? 0) & TRANSFER_FLAGS.REFUND),
    )
  );
}

/** A mint that would push a reserve's weight below the minimum makes an empty output. */
function isCancelledMint(transfer: TransferTerms, empty: readonly Payout[]): boolean {
  return transfer.kind === 'mint' && empty.some((payout) => reaches(payout, transfer));
}

function completed(payout: Payout, { amount }: ExpectedPayout): TransferOutcome {
  return { status: 'completed', amountOut: amount, payoutVout: payout.vout, reason: null };
}

function refunded(payout: Payout): TransferOutcome {
  return { status: 'refunded', amountOut: null, payoutVout: payout.vout, reason: null };
}

function unmatched(transfer: TransferTerms, expected: ExpectedPayout | null): TransferOutcome {
  const { destination, fromCurrencyId, toCurrencyId, amountIn } = transfer;
  const payout = expected
    ? `pays ${expected.amount} satoshis of ${expected.currencyId}`
    : `can pay ${toCurrencyId}, for which it states no price,`;
  const refund = fromCurrencyId === null ? '' : ` or returns ${amountIn} satoshis of ${fromCurrencyId}`;
  const reason = `no output of the import ${payout} to ${destination ?? 'its destination'}${refund}`;
  return { status: 'unmatched', amountOut: null, payoutVout: null, reason };
}
