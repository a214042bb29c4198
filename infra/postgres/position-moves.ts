/** Waits for commits that move a stage's position, in this process or another. */
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

/** A trigger on the positions notifies this channel; the payload is the stage. */
const CHANNEL = 'stage_positions';
/** SQL for a change that moves no position but changes answers; wakes the callers that follow all stages. */
export const NOTIFY_ALL = `SELECT pg_notify('${CHANNEL}', '')`;
/** SQL for a change that followers of a stage should see although its position has not moved. */
export const notifyFollowers = (stage: PositionedStage): string => `SELECT pg_notify('${CHANNEL}', '${stage}')`;
/** Callers also poll from time to time, so the connection need not be checked often. */
const PROOF_MS = 5_000;

/** Watches the moves of one stage, or of all if `stage` is null. */
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
