/** Maps by the key of a fact, which has one part or two. */

export type KeyPart = string | number;
export type Key = readonly [first: string, second?: KeyPart | undefined];

export interface KeyedMap<V> {
  get(first: string, second?: KeyPart | undefined): V | undefined;
  set(value: V, first: string, second?: KeyPart | undefined): void;
  delete(first: string, second?: KeyPart | undefined): void;
  values(): Iterable<V>;
}

/** Storage of a keyed map: a Map, or one that drops old entries. */
export interface BaseMap<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): unknown;
  delete(key: string): unknown;
  values(): Iterable<V>;
}

/** A key of one part. */
export function singleKeyMap<V>(base: BaseMap<V> = new Map()): KeyedMap<V> {
  return {
    get: (first) => base.get(first),
    set: (value, first) => void base.set(first, value),
    delete: (first) => void base.delete(first),
    values: () => base.values(),
  };
}

/** A key of two parts. Entries that share the first part are stored together, because they are mostly read one after the other. */
export function pairKeyMap<V>(base: BaseMap<Map<KeyPart, V>> = new Map()): KeyedMap<V> {
  return {
    get: (first, second = '') => base.get(first)?.get(second),
    set(value, first, second = '') {
      const held = base.get(first);
      if (held) held.set(second, value);
      else base.set(first, new Map([[second, value]]));
    },
    delete: (first, second = '') => void base.get(first)?.delete(second),
    *values() {
      for (const held of base.values()) yield* held.values();
    },
  };
}

/** A map on top of `base`, which stays unchanged. `keyOf` returns the key of a value. */
export function overlayMap<V>(
  base: KeyedMap<V>,
  own: KeyedMap<{ readonly value: V | undefined }>,
  keyOf: (value: V) => Key,
): KeyedMap<V> {
  return {
    get(first, second) {
      const changed = own.get(first, second);
      return changed ? changed.value : base.get(first, second);
    },
    set: (value, first, second) => own.set({ value }, first, second),
    delete: (first, second) => own.set({ value: undefined }, first, second),
    *values() {
      for (const value of base.values()) if (!own.get(...keyOf(value))) yield value;
      for (const { value } of own.values()) if (value !== undefined) yield value;
    },
  };
}
