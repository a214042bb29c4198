/** Derives runs of blocks in order, slice by slice: parses a slice, loads its required state, and folds it. */

import { UnlinkedBlockError } from '../../processors/derive-block.ts';
import {
  deriveFaultless,
  deriveWithDeadLetters,
  type Probe,
} from '../../processors/faults/derive-with-dead-letters.ts';
import type { ChainContext, MutableChainState } from '../../processors/state/chain-state.ts';
import type { Fact } from '../../schemas/facts.ts';
import type { PackedBlock } from '../../schemas/log-codec.ts';
import { blockFactOf, type DerivedBlock } from '../sinks/derived-block.ts';
import { createYield } from '../stage/yield-to-event-loop.ts';
import type { CachedState } from './cached-state.ts';
import { loadRequired, openCachedState } from './load-required.ts';
import { type ParsedBlock, parsedSlices } from './parsed-slices.ts';
import { type BalanceKeys, createBalanceKeys, requiredKeys } from './required-keys.ts';
import type { StoredState } from './stored-state.ts';

export interface BlockDeriver {
  /**
   * Derives the blocks that follow those derived before. `settled` waits until all earlier blocks are in the store and returns their height.
   * Throws when the signal aborts, and errors of the processors; after an error it must be reset.
   */
  derive(records: readonly PackedBlock[], settled: () => Promise<number | null>): Promise<DerivedBlock[]>;
  /** Continues from the store, right after the block at `height` (null before genesis). */
  reset(height: number | null): Promise<void>;
}

export interface BlockDeriverOptions {
  readonly chain: ChainContext;
  readonly stored: StoredState;
  readonly signal: AbortSignal;
  readonly probe?: Probe | undefined;
}

export function createBlockDeriver({ chain, stored, signal, probe }: BlockDeriverOptions): BlockDeriver {
  let held: CachedState | null = null;

  async function reset(height: number | null): Promise<CachedState> {
    held = await openCachedState(chain, stored, height);
    return held;
  }

  /**
   * Loads `extra` keys in addition to those that the blocks require. Returns null when a block cannot be derived as a whole; the state is
   * then unusable. With `isolateFaults`, parts that cannot be derived become dead letters instead.
   */
  async function fold(
    records: readonly PackedBlock[],
    state: CachedState,
    extra: BalanceKeys,
    isolateFaults: boolean,
  ): Promise<DerivedBlock[] | null> {
    const yieldToEventLoop = createYield(signal);
    const blocks: DerivedBlock[] = [];
    const slices = parsedSlices(chain.name, records, yieldToEventLoop);
    for (let slice = (await slices.next()).value; slice; ) {
      const wanted = requiredKeys(slice, chain.nativeCurrencyId, blocks.length === 0 ? extra : null);
      // Parses the next slice while the store loads the state of this one.
      const [next] = await Promise.all([slices.next(), loadRequired(state, stored, wanted)]);
      for (const parsed of slice) {
        const { position, height } = parsed.record;
        const facts =
          isolateFaults || isFaulty(parsed) ? withDeadLetters(parsed, state, probe) : whole(parsed, state, probe);
        if (!facts) return null;
        blocks.push({ position, height, block: blockFactOf(facts), facts });
        await yieldToEventLoop();
      }
      slice = next.value;
    }
    return blocks;
  }

  return {
    async reset(height) {
      await reset(height);
    },
    async derive(records, settled) {
      const extra = createBalanceKeys();
      let isolateFaults = false;
      let state = held ?? (await reset(await settled()));
      for (;;) {
        const blocks = await fold(records, state, extra, isolateFaults);
        const missed = [...state.missed.pairs()];
        state.age();
        if (blocks && missed.length === 0) return blocks;
        isolateFaults ||= !blocks;
        for (const [address, currencyId] of missed) extra.add(address, currencyId);
        state = await reset(await settled());
      }
    },
  };
}

const isFaulty = ({ block, faults }: ParsedBlock): boolean => block === null || faults.length > 0;

/** Returns null if the block cannot be derived as a whole. @throws UnlinkedBlockError when it does not link to the previous block */
function whole({ block }: ParsedBlock, state: MutableChainState, probe?: Probe): Fact[] | null {
  if (!block) return null;
  try {
    return deriveFaultless(block, state, probe);
  } catch (error) {
    if (error instanceof UnlinkedBlockError) throw error;
    return null;
  }
}

function withDeadLetters(parsed: ParsedBlock, state: MutableChainState, probe?: Probe): Fact[] {
  const { height, hash, previousHash, time, unpackedBytes: size } = parsed.record;
  return deriveWithDeadLetters({ height, hash, previousHash, time, size }, parsed, state, probe);
}
