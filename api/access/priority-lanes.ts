/**
 * Semaphore with bounded queues: a caller that finds its queue full is refused at once. The priority
 * lane goes first, and some places are its own, so that a flood of the others does not delay it.
 */
import { RetryableError } from '../../schemas/errors.ts';

export type PriorityLane = 'standard' | 'priority';

export interface PriorityLanes {
  /** @throws QueueFull when too many wait or `waitMs` is over */
  run<T>(lane: PriorityLane, waitMs: number, work: () => Promise<T>): Promise<T>;
}

export interface PriorityLanesOptions {
  readonly atOnce: number;
  /** Number of these slots that are reserved for the priority lane. */
  readonly reserved?: number;
  /** In each lane. */
  readonly mostWaiting: number;
}

export class QueueFull extends RetryableError {
  constructor() {
    super('queue_full', 'too many requests are waiting, or this one has waited too long');
  }
}

export function createPriorityLanes({ atOnce, reserved = 0, mostWaiting }: PriorityLanesOptions): PriorityLanes {
  const waiting: Readonly<Record<PriorityLane, Set<() => void>>> = { priority: new Set(), standard: new Set() };
  const running: Record<PriorityLane, number> = { priority: 0, standard: 0 };

  function mayRun(lane: PriorityLane): boolean {
    if (running.standard + running.priority >= atOnce) return false;
    return lane === 'priority' || running.standard < atOnce - reserved;
  }

  function turn(lane: PriorityLane, waitMs: number): Promise<void> {
    if (waiting[lane].size === 0 && mayRun(lane)) {
      running[lane] += 1;
      return Promise.resolve();
    }
    if (waiting[lane].size >= mostWaiting) return Promise.reject(new QueueFull());
    return new Promise((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting[lane].delete(enter);
        reject(new QueueFull());
      }, waitMs);
      waiting[lane].add(enter);
    });
  }

  function leave(left: PriorityLane): void {
    running[left] -= 1;
    for (const lane of ['priority', 'standard'] as const) {
      const [next] = waiting[lane];
      if (!next || !mayRun(lane)) continue;
      waiting[lane].delete(next);
      running[lane] += 1;
      next();
      return;
    }
  }

  return {
    async run(lane, waitMs, work) {
      await turn(lane, waitMs);
      try {
        return await work();
      } finally {
        leave(lane);
      }
    },
  };
}
