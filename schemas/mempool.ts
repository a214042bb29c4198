/** The contents of a daemon's mempool, as the process that follows it reports them to the API. They are never stored. */
import type { BlockRef } from '../domain/block-ref.ts';
import type { ActivityFact, IdentityFact, OutputFact, TransactionFact, TransferFact } from './facts.ts';

/** An output that a waiting transaction spends; `spent` is null when its coins are not known. */
export interface UnconfirmedInput {
  readonly txid: string;
  readonly n: number;
  readonly spent: Pick<OutputFact, 'value' | 'currencies' | 'addresses'> | null;
}

/** Its facts are those that its block will contain. Their heights, places in the block and times are meaningless until then. */
export interface UnconfirmedTransaction
  extends Pick<TransactionFact, 'txid' | 'kind' | 'kinds' | 'fee' | 'size' | 'lockTime' | 'expiryHeight'> {
  readonly inputs: readonly UnconfirmedInput[];
  readonly outputs: readonly OutputFact[];
  readonly activity: readonly ActivityFact[];
  readonly transfers: readonly TransferFact[];
  readonly identities: readonly IdentityFact[];
  /** Approximate memory that it takes. */
  readonly bytes: number;
}

/** Why a transaction no longer waits. */
export type UnconfirmedOutcome =
  | { readonly reason: 'mined'; readonly height: number; readonly hash: string }
  /** A mined transaction spends an output that it, or a waiting transaction that it builds on, spends. */
  | { readonly reason: 'conflicting'; readonly txid: string; readonly height: number; readonly hash: string }
  /** Like `conflicting`, but the other transaction is not mined: it waits in its place. */
  | { readonly reason: 'replaced'; readonly txid: string }
  | { readonly reason: 'expired' }
  /** It still waits in the daemon, but others pay more and the room is limited. */
  | { readonly reason: 'left_out' }
  /** The daemon no longer has it and the chain does not show why: it was evicted, or the daemon restarted. */
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

/** The result of one look at the daemon and the index. */
export interface MempoolLook {
  /** In order: applied one after the other, they yield everything that waits. */
  readonly changes: readonly MempoolChange[];
  /** Newest block of the index that the mempool was compared with; null before the first block. */
  readonly index: BlockRef | null;
  /** Number of transactions in the daemon's mempool. */
  readonly listed: number;
  /** Number of these that are not published: their fee rate is too low for the available room, or they are not readable. */
  readonly withheld: number;
}

/** Follows the mempool of one chain's daemon. */
export interface MempoolSource {
  /** Calls `report` with every look from now on. Must be called only once. */
  follow(report: (look: MempoolLook) => void): void;
  /** Looks at once, because the daemon or the index has changed. */
  wake(): void;
  close(): Promise<void>;
}
