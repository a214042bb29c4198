/** Expected outcomes of transfers in tests of pairing. */
import type { TransferOutcome } from '../../../processors/transfers/transfer-pairing.ts';

export const PAID_NOTHING: TransferOutcome = { status: 'completed', amountOut: 0n, payoutVout: null, reason: null };
export const REFUNDED_MINT: TransferOutcome = { status: 'refunded', amountOut: null, payoutVout: null, reason: null };

export const vouts = (outcomes: readonly TransferOutcome[]): (number | null)[] =>
  outcomes.map(({ payoutVout }) => payoutVout);

/** @throws Error when the element is missing */
export function at<T>(list: readonly T[], index: number): T {
  const item = list.at(index);
  if (item === undefined) throw new Error(`nothing at ${index}`);
  return item;
}
