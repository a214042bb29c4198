/** Expensive values, each valid for one state; the least recently used are dropped first. */
import { LRUCache } from 'lru-cache';
import { QueueFull } from '../access/priority-lanes.ts';

export interface Memo {
  /** The value of `key` at the state of `tag`; `work` runs when it is not known, and where another caller's found no place. */
  get<T>(key: string, tag: string, work: () => Promise<T>): Promise<T>;
}

interface Kept {
  readonly tag: string;
  readonly value: Promise<unknown>;
}

export function createMemo(maxEntries: number): Memo {
  const kept = new LRUCache<string, Kept>({ max: maxEntries });
  return {
    async get<T>(key: string, tag: string, work: () => Promise<T>): Promise<T> {
      const known = kept.get(key);
      if (known?.tag === tag) {
        return (known.value as Promise<T>).catch((error: unknown) => {
          if (error instanceof QueueFull) return work();
          throw error;
        });
      }
      const value = work();
      const entry = { tag, value };
      kept.set(key, entry);
      value.catch(() => {
        if (kept.peek(key) === entry) kept.delete(key);
      });
      return value;
    },
  };
}
