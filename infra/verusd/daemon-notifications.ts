/** Port of what a chain's daemons say by themselves. `openZmqNotifications` implements it; without a publisher nothing is ever heard. */
import type { PublisherStatus } from '../../schemas/daemon-status.ts';
import type { DaemonNotification } from '../../schemas/verusd/zmq-message.ts';

export interface DaemonNotifications {
  /** `daemon` is its place in the configuration, from 1. Returns the function that ends it. */
  subscribe(heard: (notification: DaemonNotification, daemon: number) => void): () => void;
  /** In the order of the configuration; null for a daemon without a configured publisher. */
  publishers(): readonly (PublisherStatus | null)[];
  /** A daemon has shown a block in another way: a publisher that does not name it either is silent. */
  saw(hash: string): void;
  close(): Promise<void>;
}

/** A chain whose daemons publish nothing. */
export function noNotifications(): DaemonNotifications {
  return { subscribe: () => () => undefined, publishers: () => [], saw: () => undefined, close: async () => undefined };
}
