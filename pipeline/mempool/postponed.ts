/** Transactions that could not be read: retried when the index has moved, then with exponential backoff. */

export interface Postponed {
  /** Returns those of `txids` that may be tried now. */
  due(txids: readonly string[], indexTip: string | null): string[];
  add(txid: string, indexTip: string | null): void;
  /** Forgets all transactions that are not in `txids`. */
  keep(txids: ReadonlySet<string>): void;
}

interface Tried {
  readonly times: number;
  readonly indexTip: string | null;
  /** Milliseconds of the monotonic clock. */
  readonly againAt: number;
}

const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

export function createPostponed(): Postponed {
  const tried = new Map<string, Tried>();
  return {
    due: (txids, indexTip) =>
      txids.filter((txid) => {
        const last = tried.get(txid);
        if (!last) return true;
        return performance.now() >= last.againAt || (last.times === 1 && last.indexTip !== indexTip);
      }),
    add(txid, indexTip) {
      const times = (tried.get(txid)?.times ?? 0) + 1;
      const waitMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** (times - 1));
      tried.set(txid, { times, indexTip, againAt: performance.now() + waitMs });
    },
    keep(txids) {
      for (const txid of tried.keys()) if (!txids.has(txid)) tried.delete(txid);
    },
  };
}
