/** The arbitraries of the laws. */
import fc from 'fast-check';
import { CRASH_POINTS } from '../../pipeline/stage/crash-point.ts';
import { createChain } from '../generator/chain.ts';
import { EVERYTHING } from '../generator/mixes.ts';
import { blockRecord, type UnplacedRecord } from './chain-records.ts';
import type { PlannedCrash } from './replay.ts';

/** Runs of each law: few on every push, many in the soak. */
export const RUNS = Number(process.env.LAWS_RUNS ?? 3);

export interface ChainHistory {
  /** Everything that happened, including abandoned branches. */
  readonly happened: readonly UnplacedRecord[];
  /** The winning branch. */
  readonly stayed: readonly UnplacedRecord[];
}

/** The plan from which a history is made, small enough to print when a law fails. */
export interface HistoryPlan {
  readonly seed: number;
  readonly steps: readonly { readonly blocks: number; readonly back: number }[];
}

/** Plans of a made-up chain that grows, rewinds some blocks and grows again, several times. */
export const historyPlan = (steps: number): fc.Arbitrary<HistoryPlan> =>
  fc.record({
    seed: fc.nat(),
    steps: fc.array(fc.record({ blocks: fc.integer({ min: 1, max: 12 }), back: fc.integer({ min: 0, max: 8 }) }), {
      minLength: 1,
      maxLength: steps,
    }),
  });

export function makeHistory({ seed, steps }: HistoryPlan): ChainHistory {
  const chain = createChain({ seed, addresses: 7, transactions: 4, mix: EVERYTHING, rewinds: true });
  const happened: UnplacedRecord[] = [];
  const stayed: UnplacedRecord[] = [];
  for (const { blocks, back } of steps) {
    const to = chain.height - back;
    if (back > 0 && to >= 0) {
      const fromHeight = chain.height;
      happened.push({ kind: 'rewind', height: to, hash: chain.rewind(to), fromHeight });
      stayed.length = to + 1;
    }
    for (let made = 0; made < blocks; made++) {
      const record = blockRecord(chain.next());
      happened.push(record);
      stayed.push(record);
    }
  }
  return { happened, stayed };
}

export const batchSize: fc.Arbitrary<{ maxBlocks: number }> = fc.record({ maxBlocks: fc.integer({ min: 1, max: 20 }) });

export const crashes = (most: number): fc.Arbitrary<PlannedCrash[]> =>
  fc.array(fc.record({ point: fc.constantFrom(...CRASH_POINTS), passing: fc.integer({ min: 0, max: 6 }) }), {
    maxLength: most,
  });
