/** What a made-up chain is made of. */
import { makeMixedPayment, makePayment, makeTokenPayment } from './payments.ts';
import { makeShielded } from './shielded.ts';
import type { Maker } from './world.ts';

export interface Mix {
  /** Tried once in each block, in this order, before the others. */
  readonly everyBlock: readonly Maker[];
  /** Drawn from; a maker that stands more often is drawn more often. */
  readonly makers: readonly Maker[];
}

/** Coins from key to key: small and fast. */
export const PAYMENTS: Mix = { everyBlock: [], makers: [makePayment] };

/** All there is. */
export const EVERYTHING: Mix = {
  everyBlock: [],
  makers: [makePayment, makeMixedPayment, makeTokenPayment, makeShielded],
};
