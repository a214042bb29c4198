/** Tells when a partition grows: one long request to the broker at a time, however many wait. */
import { createWakeUp } from '../../wake-up.ts';
import type { PartitionFetcher } from './partition-fetcher.ts';
import type { PartitionReader } from './partition-reader.ts';

export interface TailWatch {
  /** Resolves once the partition may hold `position`, or after `timeoutMs`, or when `signal` aborts; never rejects. */
  waitFor(position: number, timeoutMs: number, signal?: AbortSignal): Promise<void>;
  /** Positions below `next` are held. */
  grew(next: number): void;
  close(): void;
}

/** How long a request is held by the broker: a connection that died unnoticed costs no more. */
const POLL_MS = 1_000;
/** While the broker does not answer or the topic is not there. */
const PAUSE_MS = 200;

/** `fetcher` has a connection of its own, since the broker answers nothing else on it while it holds a request. */
export function createTailWatch(fetcher: PartitionFetcher, reader: PartitionReader): TailWatch {
  const woken = createWakeUp();
  let known = 0;
  /** Offset behind the newest known record; null while that is not known. */
  let offset: number | null = null;
  let polling = false;
  let closed = false;

  function grew(next: number): void {
    known = Math.max(known, next);
    woken.wakeAll();
  }

  async function poll(): Promise<boolean> {
    if (offset === null) {
      const tail = await reader.tail();
      if (tail === null) return false;
      offset = tail.end;
      grew(tail.last ? tail.last.position + 1 : 0);
      return true;
    }
    const fetched = await fetcher.fetch(offset, { maxBytes: 1, waitMs: POLL_MS });
    const newest = fetched?.messages.findLast((message) => message.position !== null);
    // What lies far behind the newest record is not fetched one by one.
    offset = fetched?.atEnd ? fetched.next : null;
    if (newest?.position != null) grew(newest.position + 1);
    return fetched !== null;
  }

  async function keepPolling(isNeeded: () => boolean): Promise<void> {
    if (polling) return;
    polling = true;
    try {
      while (!closed && isNeeded()) {
        // What fails here is said by the read that follows.
        const answered = await poll().catch(() => false);
        if (!answered) await woken.sleep(PAUSE_MS);
      }
    } finally {
      polling = false;
    }
  }

  let waiting = 0;
  return {
    grew,
    async waitFor(position, timeoutMs, signal) {
      const end = performance.now() + timeoutMs;
      waiting += 1;
      try {
        while (!closed && !signal?.aborted && known <= position && performance.now() < end) {
          void keepPolling(() => waiting > 0);
          await woken.sleep(end - performance.now(), signal);
        }
      } finally {
        waiting -= 1;
      }
    },
    close() {
      closed = true;
      woken.wakeAll();
    },
  };
}
