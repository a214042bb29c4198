/** Which of many waiting transactions there is room for: those with the highest fee rates. */

export interface Weighed {
  readonly txid: string;
  /** Satoshis a byte. */
  readonly rate: number;
  /** Memory that it takes. */
  readonly bytes: number;
}

export interface Room {
  readonly transactions: number;
  readonly bytes: number;
}

/** Those left out: all from the first one on, by falling fee rate, that does not fit. */
export function leftOutOf(weighed: readonly Weighed[], room: Room): ReadonlySet<string> {
  const bytes = weighed.reduce((sum, one) => sum + one.bytes, 0);
  if (weighed.length <= room.transactions && bytes <= room.bytes) return new Set();
  // By txid among equals, so that two looks at the same mempool leave out the same ones.
  const falling = [...weighed].sort((a, b) => b.rate - a.rate || (a.txid < b.txid ? -1 : 1));
  let taken = 0;
  const end = falling.findIndex((one, index) => {
    taken += one.bytes;
    return index >= room.transactions || taken > room.bytes;
  });
  return new Set(falling.slice(end).map(({ txid }) => txid));
}
