/** In whatever order events and answers arrive, a lane ends equal to the chain. */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type BlockOfLane, laneOf, layAnswer, layBlocks, revertTo } from './lanes.ts';

const SHOWN = 20;
/** Reorganisations never reach the first block. */
const FIRST_BLOCKS = 600;
/** Every step has its own time, since the code distinguishes only different milliseconds. */
const TICK_MS = 1;

type Event = { readonly block: BlockOfLane } | { readonly fromHeight: number; readonly toHeight: number };

let made = 0;

function createBlock(height: number): BlockOfLane {
  made += 1;
  return { height, hash: `hash ${made}`, time: height, txCount: 1, isStake: false, cursor: null };
}

/** A chain, a server whose answers may be older than the request, a stream that lags behind, and one pending answer. */
function createScene(chain: string) {
  let blocks = Array.from({ length: FIRST_BLOCKS }, (_, height) => createBlock(height));
  const events: Event[] = [];
  /** The chain as far as the stream has published it. */
  let announced: readonly BlockOfLane[] = blocks;
  let asked: { readonly at: number; answer: readonly BlockOfLane[] | null } | null = null;

  const newestOf = (all: readonly BlockOfLane[]) => all.slice(-SHOWN).reverse();
  const newest = () => newestOf(blocks);
  /** The chain after each change, newest last. */
  const states = [blocks];
  const append = () => {
    const block = createBlock(blocks.length);
    blocks = [...blocks, block];
    states.push(blocks);
    events.push({ block: { ...block, cursor: block.hash } });
  };
  const actions = {
    append,
    reorganise(depth: number, length: number) {
      const toHeight = blocks.length - 1 - depth;
      events.push({ fromHeight: blocks.length - 1, toHeight });
      blocks = blocks.slice(0, toHeight + 1);
      states.push(blocks);
      for (let count = 0; count < length; count += 1) append();
    },
    hear() {
      const event = events.shift();
      if (!event) return;
      if ('block' in event) {
        announced = [...announced, event.block];
        return layBlocks(chain, [event.block]);
      }
      const oldest = laneOf(chain).standing.at(-1)?.height ?? 0;
      const gone = announced.filter(({ height }) => height > event.toHeight && height >= oldest);
      announced = announced.slice(0, event.toHeight + 1);
      revertTo(chain, event);
      const undone = new Set(laneOf(chain).undone.map(({ hash }) => hash));
      expect(gone.filter(({ hash }) => !undone.has(hash))).toEqual([]);
    },
    ask() {
      asked ??= { at: Date.now(), answer: null };
    },
    compute(changesAgo = 0) {
      if (asked) asked.answer ??= newestOf(states.at(-1 - changesAgo) ?? blocks);
    },
    arrive() {
      if (asked?.answer) layAnswer(chain, asked.answer, asked.at);
      if (asked?.answer) asked = null;
    },
  };
  layAnswer(chain, newest(), Date.now());
  return { ...actions, newest, isSilent: () => events.length === 0 };
}

/** Number of chain changes that the server's answer may be missing. */
const anAge = fc.integer({ min: 0, max: 12 });

const anAction = fc.oneof(
  fc.constantFrom('append', 'hear', 'hear', 'ask', 'arrive' as const).map((name) => ({ name }) as const),
  fc.record({ name: fc.constant('compute' as const), changesAgo: anAge }),
  fc.record({
    name: fc.constant('reorganise' as const),
    depth: fc.integer({ min: 1, max: 9 }),
    length: fc.integer({ min: 0, max: 9 }),
  }),
);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('ends equal to the chain, and lists the blocks that each reorganisation reverted', () => {
  fc.assert(
    fc.property(fc.array(anAction, { maxLength: 60 }), anAge, (actions, lastAge) => {
      made += 1;
      const chain = `chain ${made}`;
      const scene = createScene(chain);
      const act = (run: () => void) => {
        vi.advanceTimersByTime(TICK_MS);
        run();
        const { standing, undone } = laneOf(chain);
        const hashes = new Set(standing.map(({ hash }) => hash));
        expect(new Set(standing.map(({ height }) => height)).size).toBe(standing.length);
        expect(undone.filter(({ hash }) => hashes.has(hash))).toEqual([]);
      };
      for (const action of actions) {
        if (action.name === 'reorganise') act(() => scene.reorganise(action.depth, action.length));
        else if (action.name === 'compute') act(() => scene.compute(action.changesAgo));
        else act(scene[action.name]);
      }
      while (!scene.isSilent()) act(scene.hear);
      const hashes = () => laneOf(chain).standing.map(({ hash }) => hash);
      const newest = () => scene.newest().map(({ hash }) => hash);
      // Answers older than the last event change nothing.
      for (const run of [scene.compute, scene.arrive, scene.ask, () => scene.compute(lastAge), scene.arrive]) act(run);
      expect(hashes()).toEqual(newest().slice(0, hashes().length));
      for (const run of [scene.ask, scene.compute, scene.arrive]) act(run);
      expect(hashes()).toEqual(newest());
    }),
  );
});
