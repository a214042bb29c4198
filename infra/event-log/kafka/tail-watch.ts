/** Waits for a partition to grow: one long poll to the broker at a time, however many callers wait. */
import { createWakeUp } from '../../wake-up.ts';
import type { PartitionFetcher } from './partition-fetcher.ts';
import type { PartitionReader } from './partition-reader.ts';

export interface TailWatch {
  /** Resolves when the partition may contain `position`, after `timeoutMs`, or when `signal` aborts; never rejects. */
  waitFor(position: number, timeoutMs: number, signal?: AbortSignal): Promise<void>;
  /** Reports that all positions below `next` exist. */
  grew(next: number): void;
  close(): void;
}

/** How long the broker holds a request, and so the longest delay that an unnoticed dead connection causes. */
const POLL_MS = 1_000;
/** Pause between requests while the broker does not answer or the topic does not exist. */
const PAUSE_MS = 200;

/** `fetcher` needs its own connection, because the broker answers no other request on it while it holds one. */
export function createTailWatch(fetcher: PartitionFetcher, reader: PartitionReader): TailWatch {
  const woken = createWakeUp();
  let known = 0;
  /** Offset after the newest known record; null if it is not known. */
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
    // If more records follow, jumps to the tail instead of fetching them one by one.
    offset = fetched?.atEnd ? fetched.next : null;
    if (newest?.position != null) grew(newest.position + 1);
    return fetched !== null;
  }

  async function keepPolling(isNeeded: () => boolean): Promise<void> {
    if (polling) return;
    polling = true;
    try {
      while (!closed && isNeeded()) {
        // The read that follows throws the error.
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
