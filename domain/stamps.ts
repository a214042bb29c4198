/** The vocabulary in which the USD stamps of conversions are stored, shown and counted. */

/** Why a conversion has no USD value. */
export const UNPRICED_REASONS = [
  'refunded',
  'no_delivery', // no payout was found, and the regime counts the conversion as refunded
  'burn',
  'mint',
  'basket_to_basket',
  'no_price',
  'out_of_bounds', // neither side has a believable price
] as const;
export type UnpricedReason = (typeof UNPRICED_REASONS)[number];

/** Stamp reason that makes an unmatched transfer count as refunded. */
export const NO_DELIVERY = 'no_delivery' satisfies UnpricedReason;

/**
 * SQL condition for such a transfer, from SQL expressions for its status and its stamp's reason. A stamp lags behind its chain, so it
 * changes the status only of a transfer that is still unmatched, not of one that the chain has settled since.
 */
export function countsAsRefundedSql(status: string, reason: string): string {
  return `${status} = 'unmatched' AND ${reason} = '${NO_DELIVERY}'`;
}

/** `mirrored`: the value is that of the other side, because this side's own price is not believable. */
export type Reason = UnpricedReason | 'mirrored';

/** Which side gave the value, and why. */
export const STAMP_RULES = ['stable_in', 'stable_out', 'to_basket_from', 'to_side', 'unpriced'] as const;
export type Rule = (typeof STAMP_RULES)[number];

export type Side = 'from' | 'to';

export const REGIMES = ['live', 'backfill'] as const;
export type Regime = (typeof REGIMES)[number];

/** Regimes by which a range of blocks may be stamped; `cutover` is the configured split between the two. */
export const RANGE_REGIMES = [...REGIMES, 'cutover'] as const;
export type RangeRegime = (typeof RANGE_REGIMES)[number];
