/** A scripted daemon, an embedded log and tailers from one to the other, fresh for each test. */
import { afterEach, beforeEach } from 'vitest';
import type { StageStatus } from '../../../../schemas/stage-status.ts';
import { type ScriptedDaemon, startScriptedDaemon } from '../../infra/verusd/scripted-daemon.ts';
import { createFaultyLog, type FaultyLog } from './faulty-log.ts';
import { type FoldedChain, foldBlocks } from './fold-blocks.ts';
import { CHAIN, type RunningTailer, startTailer, type TailerTestOptions } from './tail-bench.ts';

export const FINALITY = 10;

export interface TailWorld {
  readonly daemon: ScriptedDaemon;
  readonly log: FaultyLog;
  /** Starts a tailer of `from`, by default the world's daemon; it is stopped after the test. */
  start(options?: TailerTestOptions, from?: ScriptedDaemon): RunningTailer;
  /** The chain in the log, after checking its rules. */
  fold(): Promise<FoldedChain>;
  hashes(): Promise<string[]>;
  /** Hashes of the daemon's best chain. */
  daemonHashes(): string[];
  /** Records in the log. */
  count(): Promise<number>;
}

/** Registers hooks in the calling file; the returned world is valid inside a test. */
export function useTailWorld(): TailWorld {
  let current: { daemon: ScriptedDaemon; log: FaultyLog; running: RunningTailer[] } | null = null;

  beforeEach(async () => {
    current = { daemon: await startScriptedDaemon(), log: await createFaultyLog(), running: [] };
  });

  afterEach(async () => {
    const { daemon, log, running } = parts();
    for (const tailer of running) await tailer.stop().catch(() => undefined); // the test itself has checked how it ended
    await daemon.stop();
    await log.remove();
  });

  function parts(): NonNullable<typeof current> {
    if (!current) throw new Error('the world exists inside a test only');
    return current;
  }

  const world: TailWorld = {
    get daemon() {
      return parts().daemon;
    },
    get log() {
      return parts().log;
    },
    start(options = {}, from = parts().daemon) {
      const tailer = startTailer(from, parts().log, { finalityDepth: FINALITY, ...options });
      parts().running.push(tailer);
      return tailer;
    },
    fold: async () => foldBlocks(await parts().log.blocks(CHAIN)),
    hashes: async () => (await world.fold()).blocks.map((block) => block.hash),
    daemonHashes() {
      const { tree } = parts().daemon;
      return Array.from({ length: tree.tip().height + 1 }, (_, height) => tree.at(height)?.hash ?? '');
    },
    count: async () => (await parts().log.blocks(CHAIN)).length,
  };
  return world;
}

export const followingAt =
  (height: number) =>
  (status: StageStatus): boolean =>
    status.state === 'following' && status.height === height;

export const inState =
  (state: StageStatus['state'], code?: string) =>
  (status: StageStatus): boolean =>
    status.state === state && status.error?.code === code;

export const quiet = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
