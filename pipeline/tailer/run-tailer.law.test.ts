/**
 * The law of the tailer: whatever the daemon does within finality, and whatever fails meanwhile, the log folds to the daemon's best
 * chain, links at every record and has no gap; beyond finality the tailer writes nothing.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { finalizedHeight } from '../../domain/finality.ts';
import { decodeBlocksRecord } from '../../schemas/log-codec.ts';
import type { BlocksRecord } from '../../schemas/log-records.ts';
import {
  type DaemonFault,
  type ScriptedDaemon,
  startScriptedDaemon,
} from '../../test/support/infra/verusd/scripted-daemon.ts';
import { type AppendFault, createFaultyLog, type FaultyLog } from '../../test/support/pipeline/tailer/faulty-log.ts';
import { foldBlocks } from '../../test/support/pipeline/tailer/fold-blocks.ts';
import { CHAIN, type RunningTailer, startTailer } from '../../test/support/pipeline/tailer/tail-bench.ts';
import { inState } from '../../test/support/pipeline/tailer/tail-world.ts';

const FINALITY = 12;
/** The environment may set more, for a nightly run. */
const RUNS = Number(process.env.PROPERTY_RUNS ?? 40);
const WAIT_MS = 20_000;

type Action =
  | { readonly kind: 'extend'; readonly count: number }
  | { readonly kind: 'reorganise'; readonly depth: number; readonly length: number; readonly settled: boolean }
  | { readonly kind: 'dip'; readonly depth: number }
  | { readonly kind: 'restart' }
  | { readonly kind: 'daemonRestart' }
  | { readonly kind: 'faults'; readonly rate: number; readonly seed: number }
  | { readonly kind: 'appendFaults'; readonly rate: number; readonly seed: number }
  | { readonly kind: 'settle' }
  | { readonly kind: 'pause'; readonly ms: number };

const seed = fc.integer({ min: 1, max: 1_000_000 });
const rate = fc.constantFrom(0, 0.05, 0.15, 0.3);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('extend'), count: fc.integer({ min: 1, max: 30 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('reorganise'),
      depth: fc.integer({ min: 1, max: FINALITY }),
      length: fc.integer({ min: 1, max: FINALITY + 3 }),
      /** Whether the old branch is in the log first; otherwise the tailer may be anywhere. */
      settled: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('dip'), depth: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restart') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('daemonRestart') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('faults'), rate, seed }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('appendFaults'), rate, seed }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('settle') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pause'), ms: fc.integer({ min: 0, max: 12 }) }) },
) as fc.Arbitrary<Action>;

const FAULTS: readonly DaemonFault[] = [
  { kind: 'close' },
  { kind: 'cut' },
  { kind: 'garbage' },
  { kind: 'http', status: 500, body: 'Work queue depth exceeded' },
  { kind: 'error', code: -1, message: 'injected' },
  { kind: 'error', code: -28, message: 'Loading block index...' },
  { kind: 'error', code: -8, message: 'Block height out of range' },
  { kind: 'delay', ms: 8 },
];

/** Seeded random numbers in [0, 1), so that a failing case repeats the same faults. */
function draws(from: number): () => number {
  let state = from;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface World {
  readonly daemon: ScriptedDaemon;
  readonly log: FaultyLog;
  tailer: RunningTailer;
  /** Highest tip so far: blocks more than FINALITY below it must stay. */
  highest: number;
}

function run(world: Pick<World, 'daemon' | 'log'>): RunningTailer {
  const limits = { batchRecords: 5, parallelism: 4 };
  return startTailer(world.daemon, world.log, {
    finalityDepth: FINALITY,
    pollMs: 1,
    retry: { minMs: 1, maxMs: 5 },
    limits,
  });
}

async function newest({ log }: Pick<World, 'log'>): Promise<BlocksRecord | null> {
  const last = await log.last('blocks', CHAIN);
  return last && decodeBlocksRecord(last.payload);
}

async function settle(world: World): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  while ((await newest(world))?.hash !== world.daemon.tree.tip().hash) {
    if (performance.now() > deadline) {
      const shown = JSON.stringify(world.tailer.statuses.at(-1));
      throw new Error(`the log does not get to ${world.daemon.tree.tip().height}: ${shown}`);
    }
    await pause(1);
  }
}

async function act(world: World, step: Action): Promise<void> {
  const { daemon, log } = world;
  const { tree } = daemon;
  switch (step.kind) {
    case 'extend':
      tree.extend(step.count);
      break;
    case 'reorganise': {
      if (step.settled) await settle(world);
      const depth = Math.min(step.depth, tree.tip().height - Math.max(0, world.highest - FINALITY));
      if (depth > 0) tree.reorganise(depth, step.length);
      break;
    }
    case 'dip': {
      const best = tree.tip();
      tree.setTip((tree.at(Math.max(0, best.height - step.depth)) ?? best).hash);
      await pause(5);
      tree.setTip(best.hash);
      break;
    }
    case 'restart':
      await world.tailer.stop();
      world.tailer = run(world);
      break;
    case 'daemonRestart':
      await daemon.down();
      await pause(3);
      await daemon.up();
      break;
    case 'faults': {
      const draw = draws(step.seed);
      daemon.fault = () => (draw() < step.rate ? (FAULTS[Math.floor(draw() * FAULTS.length)] ?? null) : null);
      break;
    }
    case 'appendFaults': {
      const draw = draws(step.seed);
      const pick = (): AppendFault => (draw() < 0.5 ? 'lost' : 'written');
      log.fault = () => (draw() < step.rate ? pick() : null);
      break;
    }
    case 'settle':
      await settle(world);
      break;
    case 'pause':
      await pause(step.ms);
  }
  world.highest = Math.max(world.highest, tree.tip().height);
}

async function play(actions: readonly Action[], check: (world: World) => Promise<void>): Promise<void> {
  const parts = { daemon: await startScriptedDaemon(), log: await createFaultyLog() };
  const world: World = { ...parts, tailer: run(parts), highest: 0 };
  try {
    for (const step of actions) await act(world, step);
    world.daemon.fault = () => null;
    world.log.fault = () => null;
    await settle(world);
    await check(world);
  } finally {
    await world.tailer.stop();
    await world.daemon.stop();
    await world.log.remove();
  }
}

/** Returns rewinds that removed a block after finalizedHeight had declared it final. */
function removedFinal(records: readonly BlocksRecord[]): BlocksRecord[] {
  let final = 0;
  return records.filter(({ kind, height }) => {
    if (kind === 'rewind' && height < final) return true;
    final = Math.max(final, finalizedHeight(height, FINALITY));
    return false;
  });
}

describe('the law', () => {
  it(`holds for ${RUNS} histories of extensions, reorganisations, restarts and faults`, {
    timeout: 600_000,
  }, async () => {
    const seen = { rewinds: 0, records: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 25, size: 'max' }), async (actions) => {
        await play(actions, async ({ daemon, log }) => {
          const records = await log.blocks(CHAIN);
          const { blocks, rewinds, deepest } = foldBlocks(records);
          expect(blocks.map(({ hash }) => hash)).toEqual(blocks.map(({ height }) => daemon.tree.at(height)?.hash));
          expect(blocks).toHaveLength(daemon.tree.tip().height + 1);
          expect(deepest).toBeLessThanOrEqual(FINALITY);
          expect(removedFinal(records.map(({ payload }) => decodeBlocksRecord(payload)))).toEqual([]);
          for (const { hash, block } of blocks)
            expect(daemon.sent.get(hash)).toContain(Buffer.from(block).toString('utf8'));
          seen.rewinds += rewinds.length;
          seen.records += records.length;
        });
      }),
      { numRuns: RUNS },
    );
    // Without reorganisations the law would prove nothing.
    expect(seen.rewinds).toBeGreaterThan(RUNS / 6);
  });

  it('writes nothing for a branch below finality, and continues when the node comes back', {
    timeout: 600_000,
  }, async () => {
    const beyond = fc.record({
      extra: fc.integer({ min: 1, max: 20 }),
      length: fc.integer({ min: 1, max: 50 }),
      restart: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { maxLength: 6, size: 'max' }),
        beyond,
        async (actions, { extra, length, restart }) => {
          await play([{ kind: 'extend', count: 40 }, ...actions], async (world) => {
            const { daemon, log } = world;
            const { tree } = daemon;
            const before = await log.blocks(CHAIN);
            const best = tree.tip();
            const { blocks } = foldBlocks(before);
            const highest = Math.max(...before.map(({ payload }) => decodeBlocksRecord(payload).height));
            const fork = tree.at(Math.max(0, highest - FINALITY - extra)) ?? tree.genesis;
            tree.setTip(tree.grow(fork.hash, length).hash);
            if (restart) await act(world, { kind: 'restart' });
            const status = await world.tailer.shows(inState('stopped', 'rewind_too_deep'));
            expect(status.error?.message).toContain(`accept-rewind ${CHAIN} ${fork.height} ${fork.hash}`);
            await pause(10);
            expect(await log.blocks(CHAIN)).toHaveLength(before.length);
            tree.setTip(best.hash);
            tree.extend(1);
            await settle(world);
            expect(foldBlocks(await log.blocks(CHAIN)).blocks).toHaveLength(blocks.length + 1);
          });
        },
      ),
      { numRuns: Math.ceil(RUNS / 3) },
    );
  });
});
