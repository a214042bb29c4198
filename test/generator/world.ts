/** Everything that the makers of transactions read and change. */
import type { Coins } from './coins.ts';
import type { Currency } from './currency.ts';
import type { Commitment, Identity } from './identity.ts';
import type { Journal } from './journal.ts';
import type { Random } from './random.ts';
import type { Transaction } from './transaction.ts';

export interface World {
  readonly seed: number;
  readonly random: Random;
  readonly journal: Journal;
  readonly coins: Coins;
  /** Number of wallets. */
  readonly addresses: number;
  /** Height of the block that is being made. */
  readonly height: number;
  readonly identities: Identity[];
  readonly commitments: Commitment[];
  readonly currencies: Currency[];
  /** i-addresses of names that were committed to on any branch. */
  readonly takenNames: Set<string>;
  /** Only changed through the journal. */
  readonly pools: { fees: bigint; shielded: bigint };
  /** Never returns the same number twice, not even after a reorganisation. */
  nextNumber(): number;
  /** Puts the transaction into the block and applies it. `again`: its sender includes it again after a reorganisation. */
  include(transaction: Transaction, again?: 'again'): void;
}

/** Makes one thing and includes it; returns false when the chain is not ready for it. */
export type Maker = (world: World) => boolean;
