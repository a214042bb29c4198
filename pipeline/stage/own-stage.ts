/** Ensures that each stage of a chain has one owner at a time. */
import type { Postgres } from '../../infra/postgres/postgres.ts';
import type { OwnedStage } from '../../schemas/stages.ts';
import { acquireStageLock, type StageLock } from './stage-lock.ts';

export interface Ownership {
  readonly postgres: Postgres;
  readonly stage: OwnedStage;
  readonly chain: string;
  readonly signal: AbortSignal;
  /** Called once when another owner has the lock, before the wait for it. */
  readonly taken?: (() => void) | undefined;
  /** Called when this process has the lock. */
  readonly owned?: (() => void) | undefined;
}

/**
 * Waits for the lock of the stage and holds it while `work` runs. Resolves when `work` does, or once `signal` aborts.
 * @throws StageLockLost (retryable), and errors of `work`
 */
export async function ownStage(
  { postgres, stage, chain, signal, taken, owned }: Ownership,
  work: (lock: StageLock) => Promise<void>,
): Promise<void> {
  try {
    const lock = await acquireStageLock(postgres, stage, chain, signal, taken);
    try {
      owned?.();
      await work(lock);
    } finally {
      await lock.release();
    }
  } catch (error) {
    if (signal.aborted && (error as { name?: unknown }).name === 'AbortError') return;
    throw error;
  }
}
