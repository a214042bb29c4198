/** Chooses the waiting transactions for which there is room: those with the highest fee rates. */

export interface Weighed {
  readonly txid: string;
  /** Satoshis per byte. */
  readonly rate: number;
  /** Bytes of memory that it takes. */
  readonly bytes: number;
}

export interface Room {
  readonly transactions: number;
  readonly bytes: number;
}

/** Returns the transactions left out: by falling fee rate, the first one that does not fit and all after it. */
export function leftOutOf(weighed: readonly Weighed[], room: Room): ReadonlySet<string> {
  const bytes = weighed.reduce((sum, one) => sum + one.bytes, 0);
  if (weighed.length <= room.transactions && bytes <= room.bytes) return new Set();
  // Equal rates are ordered by txid, so that two looks at the same mempool leave out the same transactions.
  const falling = [...weighed].sort((a, b) => b.rate - a.rate || (a.txid < b.txid ? -1 : 1));
  let taken = 0;
  const end = falling.findIndex((one, index) => {
    taken += one.bytes;
    return index >= room.transactions || taken > room.bytes;
  });
  return new Set(falling.slice(end).map(({ txid }) => txid));
}
