/** Queues blocks that daemons have announced, until the tailer takes them; several daemons may announce the same block. */
import { LRUCache } from 'lru-cache';
import type { DaemonNotifications } from '../../infra/verusd/daemon-notifications.ts';
import { createWakeUp } from '../../infra/wake-up.ts';
import { connectedBlock, type DaemonNotification } from '../../schemas/verusd/zmq-message.ts';

export interface AnnouncedBlocks {
  /** Removes and returns the oldest announced hash; null when the daemon has to be asked instead. */
  take(): string | null;
  /** Waits until a block is announced, at most `milliseconds`. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Returns whether a publisher announces new blocks. */
  isHeard(): boolean;
  close(): void;
}

/** With more waiting blocks it is quicker to ask the daemon for its tip. */
const MOST_WAITING = 16;
const KEPT_HASHES = 64;

export function announcedBlocks(notifications: DaemonNotifications): AnnouncedBlocks {
  const waiting: string[] = [];
  const known = new LRUCache<string, true>({ max: KEPT_HASHES });
  const announced = createWakeUp();
  let mustAsk = false;

  function hear(notification: DaemonNotification): void {
    const hash = connectedBlock(notification);
    if (hash === null ? notification.kind !== 'missed' : known.has(hash)) return;
    if (hash === null) mustAsk = true;
    else {
      known.set(hash, true);
      waiting.push(hash);
      mustAsk ||= waiting.length > MOST_WAITING;
    }
    announced.wakeAll();
  }

  const unsubscribe = notifications.subscribe(hear);
  return {
    take() {
      if (!mustAsk) return waiting.shift() ?? null;
      mustAsk = false;
      waiting.length = 0;
      return null;
    },
    async wait(milliseconds, signal) {
      if (!mustAsk && waiting.length === 0) await announced.sleep(milliseconds, signal);
    },
    isHeard: () => notifications.publishers().some((publisher) => publisher?.state === 'heard'),
    close: unsubscribe,
  };
}
