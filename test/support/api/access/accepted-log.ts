/** Accepted requests by true time, and the largest sum in any minute. */
export interface AcceptedLog {
  add(at: number, cost: number): void;
  remove(at: number, cost: number): void;
  /** Largest sum within any 60 s, an interval closed at one end. */
  most(): number;
  /** Sum of the last 60 s. */
  lately(at: number): number;
}

export function createAcceptedLog(): AcceptedLog {
  const kept: { at: number; cost: number }[] = [];
  const lately = (at: number) =>
    kept.filter((entry) => entry.at <= at && entry.at > at - 60_000).reduce((sum, { cost }) => sum + cost, 0);
  return {
    add: (at, cost) => void kept.push({ at, cost }),
    remove(at, cost) {
      const index = kept.findIndex((entry) => entry.at === at && entry.cost === cost);
      if (index < 0) throw new Error('what was not accepted cannot be given back');
      kept.splice(index, 1);
    },
    most: () => Math.max(0, ...kept.map(({ at }) => lately(at))),
    lately,
  };
}
