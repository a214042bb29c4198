/** Names that the stamps of conversions use, in every place that shows or counts them. Why one has no USD value: */
export const UNPRICED_REASONS = [
  'refunded',
  'no_delivery', // no payout was found, and the regime takes it for refunded
  'burn',
  'mint',
  'basket_to_basket',
  'no_price',
  'out_of_bounds', // no price of either side is believed
] as const;
export type UnpricedReason = (typeof UNPRICED_REASONS)[number];

export const REGIMES = ['live', 'backfill'] as const;
export type Regime = (typeof REGIMES)[number];
