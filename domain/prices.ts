/** The vocabulary in which prices are stored and shown. */

/** 0: a configured anchor. 1: from anchors in baskets. 2: through one priced reserve. 3: through a reserve of tier 2. */
export const PRICE_TIERS = [0, 1, 2, 3] as const;
export type PriceTier = (typeof PRICE_TIERS)[number];

/** USD per unit, as plain decimals; a missing member sets no limit. */
export interface PriceLimits {
  readonly min?: string;
  readonly max?: string;
}

/** The result of comparing a price with external feeds. */
export const GUARD_STATES = ['healthy', 'warning', 'rejected'] as const;
export type GuardState = (typeof GUARD_STATES)[number];

export const PRICE_STATUSES = [...GUARD_STATES, 'stale'] as const;
export type PriceStatus = (typeof PRICE_STATUSES)[number];
