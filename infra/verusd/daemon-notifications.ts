/** Port for notifications that a chain's daemons publish. `openZmqNotifications` implements it; without a publisher there are none. */
import type { PublisherStatus } from '../../schemas/daemon-status.ts';
import type { DaemonNotification } from '../../schemas/verusd/zmq-message.ts';

export interface DaemonNotifications {
  /** `daemon` is the place of the daemon in the configuration, from 1. Returns a function that ends the subscription. */
  subscribe(heard: (notification: DaemonNotification, daemon: number) => void): () => void;
  /** Statuses in configuration order; null for a daemon without a configured publisher. */
  publishers(): readonly (PublisherStatus | null)[];
  /** Reports a block that was found in another way; a publisher that does not announce it soon counts as silent. */
  saw(hash: string): void;
  close(): Promise<void>;
}

/** For a chain whose daemons publish nothing. */
export function noNotifications(): DaemonNotifications {
  return { subscribe: () => () => undefined, publishers: () => [], saw: () => undefined, close: async () => undefined };
}
