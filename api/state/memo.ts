/** Expensive values, each valid for one state; the least recently used are dropped first. */
import { LRUCache } from 'lru-cache';
import { orOwn } from '../access/shared-work.ts';
import { approximateBytes } from './approximate-bytes.ts';

export interface Memo {
  /** The value of `key` at the state of `tag`; `work` runs when it is not known, and where another caller's found no place. */
  get<T>(key: string, tag: string, work: () => Promise<T>): Promise<T>;
}

interface Kept {
  readonly tag: string;
  readonly value: Promise<unknown>;
}

/** Estimate of an entry's own size, without its key and its value. */
const ENTRY_BYTES = 300;

/** Keeps values of `maxBytes` in all, keys included: requests choose what is kept, so a number of entries would bound nothing. */
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
          // A new object: the cache does not update the size of an entry that is set again.
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
