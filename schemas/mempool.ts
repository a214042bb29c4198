/** What waits in a daemon's mempool, as the process that follows it reports it to the API. Nothing of it is ever stored. */
import type { BlockRef } from '../domain/block-ref.ts';
import type { ActivityFact, IdentityFact, OutputFact, TransactionFact, TransferFact } from './facts.ts';

/** An output that a waiting transaction spends; without its coins where they are not known. */
export interface UnconfirmedInput {
  readonly txid: string;
  readonly n: number;
  readonly spent: Pick<OutputFact, 'value' | 'currencies' | 'addresses'> | null;
}

/** Its facts are those that its block will hold. Heights, places in the block and times in them mean nothing yet. */
export interface UnconfirmedTransaction
  extends Pick<TransactionFact, 'txid' | 'kind' | 'kinds' | 'fee' | 'size' | 'lockTime' | 'expiryHeight'> {
  readonly inputs: readonly UnconfirmedInput[];
  readonly outputs: readonly OutputFact[];
  readonly activity: readonly ActivityFact[];
  readonly transfers: readonly TransferFact[];
  readonly identities: readonly IdentityFact[];
  /** Memory that it takes, about. */
  readonly bytes: number;
}

/** What became of a transaction that no longer waits. */
export type UnconfirmedOutcome =
  | { readonly reason: 'mined'; readonly height: number; readonly hash: string }
  /** A mined transaction spends what it, or one that it builds on, spends. */
  | { readonly reason: 'conflicting'; readonly txid: string; readonly height: number; readonly hash: string }
  /** The same of one that waits in its place. */
  | { readonly reason: 'replaced'; readonly txid: string }
  | { readonly reason: 'expired' }
  /** It still waits, but others pay more and there is room for no more. */
  | { readonly reason: 'left_out' }
  /** The daemon holds it no longer and the chain does not say why: it was evicted, or the daemon restarted. */
  | { readonly reason: 'dropped' };

export const GONE_REASONS = [
  'mined',
  'conflicting',
  'replaced',
  'expired',
  'left_out',
  'dropped',
] as const satisfies readonly UnconfirmedOutcome['reason'][];

export type MempoolChange =
  | { readonly kind: 'waits'; readonly transaction: UnconfirmedTransaction }
  | {
      readonly kind: 'gone';
      readonly transaction: UnconfirmedTransaction;
      readonly outcome: UnconfirmedOutcome;
    };

/** One look at the daemon and the index. */
export interface MempoolLook {
  /** In order: folded, they give all that waits. */
  readonly changes: readonly MempoolChange[];
  /** Newest block of the index that it was held against; null before the first. */
  readonly index: BlockRef | null;
  /** Transactions in the daemon's mempool. */
  readonly listed: number;
  /** How many of these are not published: too low a fee rate for the room there is, or not readable. */
  readonly withheld: number;
}

/** Follows the mempool of one chain's daemon. */
export interface MempoolSource {
  /** From now on `report` is called with every look. To be called once. */
  follow(report: (look: MempoolLook) => void): void;
  /** Something has changed, in the daemon or in the index: look at once. */
  wake(): void;
  close(): Promise<void>;
}
