/** Status of the price stage, by chain. */

import { getOrInsert } from '../../domain/get-or-insert.ts';
import { slowestChain } from '../../domain/slowest-chain.ts';
import type { Logger } from '../../infra/logger.ts';
import { metrics } from '../../infra/metrics.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { createStageProgress, type StageProgress } from '../stage/stage-progress.ts';
import { type ChainCursor, newestClock } from './price-chain.ts';
import type { PriceStage } from './price-stage.ts';

export interface PriceReport {
  /** Call it after each step, which stored `ticks` ticks. */
  at(stage: Pick<PriceStage, 'cursors' | 'aheadTips'>, ticks: number): void;
}

export interface PriceReportOptions {
  readonly logger: Logger;
  readonly status: (chain: string, status: StageStatus) => void;
}

const PROGRESS_EVERY_MS = 5000;

export function createPriceReport({ logger, status }: PriceReportOptions): PriceReport {
  const shown = new Map<string, StageProgress>();
  let progressAt = performance.now();

  function statusOf(cursor: ChainCursor, waitsFor: string | null, ahead: number, isIdle: boolean): StageStatus {
    const { name } = cursor.chain;
    const progress = getOrInsert(shown, name, createStageProgress);
    const height = cursor.ticked?.height ?? null;
    const before = progress.numbers().height;
    const hasMoved = height !== null && height !== before;
    progress.at(height, hasMoved ? Math.max(0, height - (before ?? height)) : 0, hasMoved ? Date.now() : null);
    progress.target(cursor.derivedHeight);
    // Idle with a lag: the clocks of other chains have not passed this one's blocks yet.
    const state = progress.isNear() ? 'following' : isIdle ? 'waiting' : 'catching_up';
    const line = waitsFor === null ? {} : { waitsFor, aheadBlocks: ahead };
    return { state, ...progress.numbers(), etaSeconds: progress.etaSeconds(), error: null, ...line };
  }

  return {
    at({ cursors, aheadTips }, ticks) {
      const last = lastOf(cursors);
      for (const cursor of cursors) {
        const { name } = cursor.chain;
        const tip = aheadTips.get(name)?.height;
        const ahead = tip === undefined ? 0 : tip - (cursor.ticked?.height ?? -1);
        const waitsFor = last !== null && last !== cursor && isBeyond(cursor, last) ? last.chain.name : null;
        metrics.priceBlocksAhead.set({ chain: name }, ahead);
        metrics.priceWaitsFor.set({ chain: name }, last === cursor ? 1 : 0);
        const now = statusOf(cursor, waitsFor, ahead, ticks === 0);
        status(name, now);
        if (now.state === 'catching_up' && performance.now() - progressAt >= PROGRESS_EVERY_MS) {
          progressAt = performance.now();
          const { height, targetHeight, etaSeconds } = now;
          logger.info(
            { chain: cursor.chain.name, height, targetHeight, rate: Math.round(now.rate), etaSeconds },
            'pricing',
          );
        }
      }
    },
  };
}

/** The chain with the earliest clock, which keeps the others' blocks provisional; null when no block waits for another chain. */
function lastOf(cursors: readonly ChainCursor[]): ChainCursor | null {
  const last = slowestChain(cursors, newestClock);
  return cursors.some((cursor) => last && cursor !== last && isBeyond(cursor, last)) ? last : null;
}

/** Whether blocks of a chain wait until the other's clock has passed them. */
function isBeyond({ queue }: ChainCursor, other: ChainCursor): boolean {
  const newest = queue.at(-1);
  return newest !== undefined && newest.clock >= newestClock(other);
}
