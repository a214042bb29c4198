/** Caches expensive values, each valid for one state; evicts the least recently used. */
import { LRUCache } from 'lru-cache';
import { orOwn } from '../access/shared-work.ts';
import { approximateBytes } from './approximate-bytes.ts';

export interface Memo {
  /** Returns the value of `key` at the state `tag`. Runs `work` when none is cached, or when another caller's work found its queue full. */
  get<T>(key: string, tag: string, work: () => Promise<T>): Promise<T>;
}

interface Kept {
  readonly tag: string;
  readonly value: Promise<unknown>;
}

/** Estimated size of an entry without its key and its value. */
const ENTRY_BYTES = 300;

/** Bounded by `maxBytes` in total, keys included: requests choose the values, so a number of entries would bound nothing. */
export function createMemo(maxBytes: number): Memo {
  const kept = new LRUCache<string, Kept>({ maxSize: maxBytes });
  const sizeOf = (key: string, value?: unknown) => ENTRY_BYTES + approximateBytes(key) + approximateBytes(value);
  return {
    async get<T>(key: string, tag: string, work: () => Promise<T>): Promise<T> {
      const known = kept.get(key);
      if (known?.tag === tag) return orOwn(known.value as Promise<T>, work);
      const value = work();
      const underWay = { tag, value };
      kept.set(key, underWay, { size: sizeOf(key) });
      const isKept = () => kept.peek(key) === underWay;
      value.then(
        (made) => {
          // Sets a new object: the cache does not update the size when the same object is set again.
          if (isKept()) kept.set(key, { tag, value }, { size: sizeOf(key, made) });
        },
        () => {
          if (isKept()) kept.delete(key);
        },
      );
      return value;
    },
  };
}
