/** Records in memory, bounded by their number and by the bytes of their payloads; the least recently used are dropped first. */
import { LRUCache } from 'lru-cache';

/** Keeps the newest record however large it is. */
export function createRecordCache<K extends string | number, R extends { readonly bytes: number }>(most: {
  readonly records: number;
  readonly bytes: number;
}): LRUCache<K, R> {
  return new LRUCache({
    max: most.records,
    maxSize: most.bytes,
    sizeCalculation: ({ bytes }) => Math.max(1, Math.min(bytes, most.bytes)),
  });
}
