/** Seeded randomness: one seed gives one sequence, the same everywhere. */
import { createRandom as createFractions } from '../../recordings/player/faults.ts';

export interface Random {
  /** 0 ≤ integer < limit */
  below(limit: number): number;
  /** true once in `times` calls, on average */
  oneIn(times: number): boolean;
  /** lowest ≤ integer ≤ highest; `lowest` when highest is smaller */
  between(lowest: bigint, highest: bigint): bigint;
  /** An element of a list, which must not be empty. */
  pick<T>(list: readonly T[]): T;
}

const RESOLUTION = 1n << 48n;

export function createRandom(seed: number): Random {
  const next = createFractions(seed);
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    oneIn: (times) => below(times) === 0,
    between(lowest, highest) {
      if (highest <= lowest) return lowest;
      const fraction = BigInt(below(1 << 24)) * (1n << 24n) + BigInt(below(1 << 24));
      return lowest + ((highest - lowest + 1n) * fraction) / RESOLUTION;
    },
    pick(list) {
      const picked = list[below(list.length)];
      if (picked === undefined) throw new RangeError('nothing to pick from');
      return picked;
    },
  };
}
