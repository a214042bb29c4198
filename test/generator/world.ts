/** Everything that the makers of transactions look at and change. */
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
  /** How many wallets there are. */
  readonly addresses: number;
  /** Height of the block that is being made. */
  readonly height: number;
  readonly identities: Identity[];
  readonly commitments: Commitment[];
  readonly currencies: Currency[];
  /** i-addresses of names that somebody committed to on any branch. */
  readonly takenNames: Set<string>;
  /** Changed through the journal alone. */
  readonly pools: { fees: bigint; shielded: bigint };
  /** Never the same twice, reorganisations or not. */
  nextNumber(): number;
  /** Puts it into the block and applies it. `again`: its sender brings it back after a reorganisation. */
  include(transaction: Transaction, again?: 'again'): void;
}

/** Makes one thing and includes it; false where the chain is not ready for it. */
export type Maker = (world: World) => boolean;
