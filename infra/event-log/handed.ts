/** Records that were handed over but not read yet, by chain and position, in bounded memory. */

export interface Sized<T> {
  readonly record: T;
  /** Bytes on the heap. */
  readonly size: number;
}

export interface Handed<T> {
  /** Positions of a chain must be ascending. Drops the record if there is no room; readers then decode it from the log. */
  hold(chain: string, position: number, sized: Sized<T>): void;
  /** Returns the record and removes it. */
  take(chain: string, position: number): Sized<T> | undefined;
  /** Drops the records of the chain before `position`. */
  leaveBehind(chain: string, position: number): void;
}

/** When full, keeps the old records, because readers need them first; an LRU cache would evict them for records that are read last. */
export function createHanded<T>(maxBytes: number): Handed<T> {
  const chains = new Map<string, Map<number, Sized<T>>>();
  let bytes = 0;

  function take(chain: string, position: number): Sized<T> | undefined {
    const records = chains.get(chain);
    const sized = records?.get(position);
    if (!sized) return undefined;
    records?.delete(position);
    bytes -= sized.size;
    return sized;
  }

  return {
    hold(chain, position, sized) {
      take(chain, position);
      if (bytes + sized.size > maxBytes) return;
      const records = chains.get(chain) ?? new Map<number, Sized<T>>();
      chains.set(chain, records.set(position, sized));
      bytes += sized.size;
    },
    take,
    leaveBehind(chain, position) {
      for (const held of chains.get(chain)?.keys() ?? []) {
        if (held >= position) return;
        take(chain, held);
      }
    },
  };
}
