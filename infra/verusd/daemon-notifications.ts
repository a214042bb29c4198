/** Port of what a chain's daemons say by themselves. `openZmqNotifications` implements it; without a publisher nothing is ever heard. */
import type { PublisherStatus } from '../../schemas/daemon-status.ts';

export type DaemonNotification =
  /** The tip of the best chain is now this block; of several blocks at once, only the last may be named. */
  | { readonly kind: 'block'; readonly hash: string }
  /** A transaction came into the mempool or a block. */
  | { readonly kind: 'tx'; readonly txid: string }
  /** Topic `sequence`, which only newer daemons publish: each change of mempool and chain, in order. */
  | { readonly kind: 'sequence'; readonly change: 'block_connected' | 'block_disconnected'; readonly hash: string }
  | {
      readonly kind: 'sequence';
      readonly change: 'tx_added' | 'tx_removed';
      readonly txid: string;
      /** Grows by one with each change of this daemon's mempool. */
      readonly mempoolSequence: bigint;
    }
  /** The connection began or messages were dropped: what was said meanwhile is unknown and must be asked for. */
  | { readonly kind: 'missed' };

export interface DaemonNotifications {
  /** `daemon` is its place in the configuration, from 1. Returns the function that ends it. */
  subscribe(heard: (notification: DaemonNotification, daemon: number) => void): () => void;
  /** In the order of the configuration; null for a daemon without a configured publisher. */
  publishers(): readonly (PublisherStatus | null)[];
  /** A daemon has shown a block in another way: a publisher that does not name it either is silent. */
  saw(hash: string): void;
  close(): Promise<void>;
}

/** Of a chain whose daemons publish nothing. */
export function noNotifications(): DaemonNotifications {
  return { subscribe: () => () => undefined, publishers: () => [], saw: () => undefined, close: async () => undefined };
}
