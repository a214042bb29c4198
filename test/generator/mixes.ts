/** The kinds of transactions of a made-up chain. */

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
  /** Makers that are drawn at random; a maker that is listed more often is drawn more often. */
  readonly makers: readonly Maker[];
  /** Producers are paid by plain outputs: no fee pool, no stake guard. */
  readonly plainRewards?: true;
}

/** Payments from key to key: small and fast. */
export const PAYMENTS: Mix = { everyBlock: [], makers: [makePayment] };

/** Blocks so simple that even a quick script can derive them. */
export const PLAIN_PAYMENTS: Mix = { ...PAYMENTS, plainRewards: true };

/** All kinds of transactions. */
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
