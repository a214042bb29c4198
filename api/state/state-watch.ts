/** Keeps the service's state in memory, so that a 304 and a prepared answer need no query. */
import type { Logger } from '../../infra/logger.ts';
import { watchPositions } from '../../infra/postgres/position-moves.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readBoth } from '../../infra/postgres/read-rows.ts';
import { repeatUntil } from '../../infra/repeat-until.ts';
import { readServiceState, readState, type ServiceState, STATE_SQL, type StateScope } from './service-state.ts';
import { readStageStatuses, readStatus, STATUS_SQL, type StageStatuses } from './stage-statuses.ts';

export interface StateWatch {
  readonly state: ServiceState;
  readonly statuses: StageStatuses;
  /** Resolves once `holds` returns true for the state, or when `signal` aborts. */
  until(holds: (state: ServiceState) => boolean, signal: AbortSignal): Promise<void>;
  /** Calls `moved` after each change of the state, until the returned function is called. */
  onMove(moved: () => void): () => void;
  /** Resolves once the state is newer than `seen`, which must be known to be outdated. */
  beyond(seen: ServiceState): Promise<void>;
  stop(): Promise<void>;
}

/** Poll interval: commits and status changes of stages are notified, other reports are seen at the next poll. */
const LOOK_MS = 1000;
const RETRY_MS = 1000;

interface Waiter {
  readonly holds: (state: ServiceState) => boolean;
  readonly wake: () => void;
}

/** Resolves after the first read: without Postgres nothing can be served. */
export async function createStateWatch(
  postgres: Postgres,
  scope: StateScope,
  logger: Logger,
  parent: AbortSignal,
  lookMs = LOOK_MS,
): Promise<StateWatch> {
  const stopping = new AbortController();
  const moves = watchPositions(postgres, logger);
  const waiters = new Set<Waiter>();
  const followers = new Set<() => void>();
  let looking: Promise<void> | null = null;
  let state: ServiceState;
  let statuses: StageStatuses;

  async function ask(): Promise<void> {
    const [positions, rows] = await readBoth(postgres.pool, [readState, STATE_SQL], [readStatus, STATUS_SQL]);
    const isOther = positions[0]?.version !== state?.version;
    if (isOther) state = readServiceState(positions, scope);
    statuses = readStageStatuses(rows);
    if (isOther) for (const moved of followers) moved();
    for (const waiter of [...waiters]) if (waiter.holds(state)) waiter.wake();
  }

  /** Concurrent callers share one read. */
  function look(): Promise<void> {
    looking ??= ask().finally(() => {
      looking = null;
    });
    return looking;
  }

  function stop(): void {
    stopping.abort();
    void moves.stop();
    for (const waiter of [...waiters]) waiter.wake();
  }

  async function restAndLook(): Promise<void> {
    await moves.next(lookMs, stopping.signal);
    if (!stopping.signal.aborted) await look();
  }

  parent.addEventListener('abort', stop, { once: true });
  try {
    await look();
  } catch (error) {
    await moves.stop();
    throw error;
  }
  if (parent.aborted) stop();
  const running = repeatUntil(stopping.signal, restAndLook, {
    retryMs: RETRY_MS,
    onError: (err) => logger.warn({ err }, 'the state of the stores cannot be read; trying again'),
  });
  return {
    get state() {
      return state;
    },
    get statuses() {
      return statuses;
    },
    until: (holds, callerSignal) =>
      new Promise<void>((resolve) => {
        if (stopping.signal.aborted || callerSignal.aborted || holds(state)) return resolve();
        const wake = () => {
          waiters.delete(waiter);
          callerSignal.removeEventListener('abort', wake);
          resolve();
        };
        const waiter: Waiter = { holds, wake };
        waiters.add(waiter);
        callerSignal.addEventListener('abort', wake, { once: true });
      }),
    onMove(moved) {
      followers.add(moved);
      return () => void followers.delete(moved);
    },
    async beyond(seen) {
      await look();
      // The first read may have begun before the change.
      if (state === seen) await look();
    },
    async stop() {
      parent.removeEventListener('abort', stop);
      stop();
      await Promise.all([running, moves.stop()]);
    },
  };
}
