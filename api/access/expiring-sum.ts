/** Amounts that count up to a moment each, and their sum: O(1) a use, whatever the traffic. */

/** Counts until `end`, milliseconds. */
export type Expiring = readonly [end: number, amount: number];

export interface ExpiringSum {
  /** Amounts of the same end become one. Ends may come in any order; ascending is cheap. */
  add(end: number, amount: number): void;
  /** Subtracts an amount added with this end; does nothing once it has expired. */
  remove(end: number, amount: number): void;
  total(now: number): number;
  /** Moment from which at most `most` counts; now when that already holds. */
  belowAt(most: number, now: number): number;
  /** Moment from which nothing counts. */
  emptyAt(now: number): number;
  /** Ascending. */
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
