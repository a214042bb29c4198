/** What a made-up chain is made of. */

import { makeDefinition } from './currency-definition.ts';
import { makeLaunchSteps } from './currency-launch.ts';
import { makeCommitment, makeRegistration } from './identity-registration.ts';
import { makeIdentityUpdate } from './identity-updates.ts';
import { makeExportsAndImports } from './live-imports.ts';
import { makeMixedPayment, makePayment, makeTokenPayment } from './payments.ts';
import { makeShielded } from './shielded.ts';
import { makeTransfers } from './transfers.ts';
import type { Maker } from './world.ts';

export interface Mix {
  /** Tried once in each block, in this order, before the others. */
  readonly everyBlock: readonly Maker[];
  /** Drawn from; a maker that stands more often is drawn more often. */
  readonly makers: readonly Maker[];
  /** Producers are paid as everybody is: no fee pool, no stake guard. */
  readonly plainRewards?: true;
}

/** Coins from key to key: small and fast. */
export const PAYMENTS: Mix = { everyBlock: [], makers: [makePayment] };

/** What even a script of an afternoon can derive. */
export const PLAIN_PAYMENTS: Mix = { ...PAYMENTS, plainRewards: true };

/** All there is. */
export const EVERYTHING: Mix = {
  everyBlock: [makeLaunchSteps, makeExportsAndImports],
  makers: [
    makePayment,
    makeMixedPayment,
    makeTokenPayment,
    makeShielded,
    makeCommitment,
    makeRegistration,
    makeIdentityUpdate,
    makeIdentityUpdate,
    makeDefinition,
    makeTransfers,
    makeTransfers,
    makeTransfers,
  ],
};
