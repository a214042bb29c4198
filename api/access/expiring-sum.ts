/** Sum of amounts that each expire at their own time: O(1) per use, independent of the traffic. */

/** An amount that counts until `end`, in milliseconds. */
export type Expiring = readonly [end: number, amount: number];

export interface ExpiringSum {
  /** Merges amounts with the same end. Ends may be added in any order; ascending order is cheap. */
  add(end: number, amount: number): void;
  /** Subtracts an amount that was added with this end; does nothing once it has expired. */
  remove(end: number, amount: number): void;
  total(now: number): number;
  /** Returns the time from which the sum is at most `most`: `now` if it already is, Infinity if it never will be. */
  belowAt(most: number, now: number): number;
  /** Returns the time from which the sum is 0. */
  emptyAt(now: number): number;
  /** In ascending order of their ends. */
  entries(now: number): Expiring[];
}

export function createExpiringSum(initial: readonly Expiring[] = []): ExpiringSum {
  const kept: [end: number, amount: number][] = [];
  let sum = 0;

  function forget(now: number): void {
    let past = 0;
    for (const [end, amount] of kept) {
      if (end > now) break;
      sum -= amount;
      past += 1;
    }
    if (past > 0) kept.splice(0, past);
  }

  function add(end: number, amount: number): void {
    sum += amount;
    let index = kept.length;
    while (index > 0 && (kept[index - 1]?.[0] ?? 0) > end) index -= 1;
    const before = kept[index - 1];
    if (before?.[0] === end) before[1] += amount;
    else kept.splice(index, 0, [end, amount]);
  }

  for (const [end, amount] of initial) add(end, amount);
  return {
    add,
    remove(end, amount) {
      const entry = kept.findLast((candidate) => candidate[0] === end);
      if (!entry) return;
      entry[1] -= amount;
      sum -= amount;
    },
    total(now) {
      forget(now);
      return sum;
    },
    belowAt(most, now) {
      forget(now);
      let left = sum;
      let moment = now;
      for (const [end, amount] of kept) {
        if (left <= most) break;
        left -= amount;
        moment = end;
      }
      return left <= most ? moment : Number.POSITIVE_INFINITY;
    },
    emptyAt(now) {
      forget(now);
      return kept.at(-1)?.[0] ?? now;
    },
    entries(now) {
      forget(now);
      return kept.map(([end, amount]) => [end, amount] as const);
    },
  };
}
