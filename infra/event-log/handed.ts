/** Records that were handed over and not read yet, by chain and position, in bounded memory. */

export interface Sized<T> {
  readonly record: T;
  /** Bytes of the heap. */
  readonly size: number;
}

export interface Handed<T> {
  /** Positions of a chain come in rising order. Without room the record is left to the log. */
  hold(chain: string, position: number, sized: Sized<T>): void;
  /** The record, which is then no longer held. */
  take(chain: string, position: number): Sized<T> | undefined;
  /** Drops the records of the chain before `position`. */
  leaveBehind(chain: string, position: number): void;
}

/** When it is full, what is held stays: it is read first, while a cache would drop it for what is read last. */
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
