/** A map that drops entries not used lately: it has two generations, and each turn drops the older one. */

export interface AgingMap<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
  values(): Iterable<V>;
  /** Size of the younger generation: entries set or read since it began. */
  readonly size: number;
  /** Begins a new generation. Entries used since the last turn stay until the next one. */
  turn(): void;
}

export function createAgingMap<K, V>(): AgingMap<K, V> {
  let young = new Map<K, V>();
  let old = new Map<K, V>();
  return {
    get(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const kept = old.get(key);
      if (kept !== undefined) young.set(key, kept);
      return kept;
    },
    set(key, value) {
      young.set(key, value);
    },
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
    *values() {
      for (const [key, value] of old) if (!young.has(key)) yield value;
      yield* young.values();
    },
    get size() {
      return young.size;
    },
    turn() {
      old = young;
      young = new Map();
    },
  };
}
