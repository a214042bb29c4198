/** Records in memory, bounded by their number and by their bytes in the log: the one that came first goes first. */
import type { FeedRecord } from './chain-feed.ts';

export interface RecordCache<K> {
  get(key: K): FeedRecord | undefined;
  has(key: K): boolean;
  /** Keeps the newest one however large it is. */
  set(key: K, record: FeedRecord): void;
  clear(): void;
}

export function createRecordCache<K>(most: { readonly records: number; readonly bytes: number }): RecordCache<K> {
  const kept = new Map<K, FeedRecord>();
  let bytes = 0;

  function remove(key: K): void {
    bytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  }

  return {
    get: (key) => kept.get(key),
    has: (key) => kept.has(key),
    set(key, record) {
      remove(key);
      kept.set(key, record);
      bytes += record.bytes;
      for (const oldest of kept.keys()) {
        if (kept.size <= 1 || (kept.size <= most.records && bytes <= most.bytes)) break;
        remove(oldest);
      }
    },
    clear() {
      kept.clear();
      bytes = 0;
    },
  };
}
