/** Hears of each commit that moves a stage's position, in this process or another. */
import type { PositionedStage } from '../../schemas/stages.ts';
import type { Logger } from '../logger.ts';
import { createWakeUp } from '../wake-up.ts';
import { listen } from './listen.ts';
import type { Postgres } from './postgres.ts';

export interface PositionMoves {
  /** Resolves once a position has moved since the last call resolved, after `timeoutMs` at the latest, or when `signal` aborts. */
  next(timeoutMs: number, signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/** Notified by a trigger on the positions; the payload is the stage. */
const CHANNEL = 'stage_positions';
/** SQL of a change that moves no position but changes answers: it wakes those who follow all stages. */
export const NOTIFY_ALL = `SELECT pg_notify('${CHANNEL}', '')`;
/** SQL of a change that those who follow a stage should see although it has not moved. */
export const notifyFollowers = (stage: PositionedStage): string => `SELECT pg_notify('${CHANNEL}', '${stage}')`;
/** Callers look from time to time all the same, so the connection need not be proven often. */
const PROOF_MS = 5_000;

/** `stage`: only that one's moves. */
export function watchPositions(
  postgres: Postgres,
  logger: Logger,
  stage: PositionedStage | null = null,
): PositionMoves {
  const moved = createWakeUp();
  let isMoved = false;
  const heard = (payload: string | null): void => {
    if (payload !== null && stage !== null && payload !== stage) return;
    isMoved = true;
    moved.wakeAll();
  };
  const listener = listen(postgres, CHANNEL, heard, logger, PROOF_MS);
  return {
    async next(timeoutMs, signal) {
      if (!isMoved) await moved.sleep(timeoutMs, signal);
      isMoved = false;
    },
    stop: () => listener.stop(),
  };
}
