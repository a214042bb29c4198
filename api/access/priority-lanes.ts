/**
 * Semaphore with bounded queues that is fair between callers. The priority lane is served first and has reserved places, so that a flood
 * in the standard lane does not delay it. Within a lane callers take turns. If the lane leaves room, a caller gets another place only while
 * it has fewer places than the lane has left, so a single caller gets at most half of them and a new caller finds one free. The places of
 * a queue are shared in the same way. docs/decisions/0124-places-by-caller.md
 */
import { getOrInsert } from '../../domain/get-or-insert.ts';
import { RetryableError } from '../../schemas/errors.ts';

export type PriorityLane = 'standard' | 'priority';

/** The owner of some work. */
export interface WorkOwner {
  readonly lane: PriorityLane;
  /** The network or identity that pays for the work; all its callers count as one. */
  readonly payer: string;
}

/** Owner of work that no single caller requested. */
export const SERVICE: WorkOwner = { lane: 'standard', payer: 'service' };

export interface PriorityLanes {
  /**
   * @throws QueueFull when too many works wait, in total or of this owner, or after `waitMs`; the reason of `signal` if it aborts before
   * the work begins
   */
  run<T>(owner: WorkOwner, waitMs: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Returns the owner whose work would begin first, for work that all these owners share. */
  quickest(owners: readonly [WorkOwner, ...WorkOwner[]]): WorkOwner;
}

export interface PriorityLanesOptions {
  readonly atOnce: number;
  /** Number of these slots that are reserved for the priority lane. */
  readonly reserved?: number;
  /** Maximum queue length of each lane. */
  readonly mostWaiting: number;
  /** Whether a single caller leaves places free for others; if false it may take all places until another caller waits. True by default. */
  readonly leavesRoom?: boolean;
}

export class QueueFull extends RetryableError {
  /** The payer that has no room for further work; null if the work has waited too long. */
  readonly payer: string | null;

  constructor(payer: string | null = null) {
    super('queue_full', 'too many requests are waiting, or this one has waited too long');
    this.payer = payer;
  }
}

export function createPriorityLanes({
  atOnce,
  reserved = 0,
  mostWaiting,
  leavesRoom = true,
}: PriorityLanesOptions): PriorityLanes {
  const lanes = {
    priority: createLane(atOnce, mostWaiting, leavesRoom),
    standard: createLane(atOnce - reserved, mostWaiting, leavesRoom),
  };
  const free = () => atOnce - lanes.priority.running - lanes.standard.running;

  const heldBy = ({ lane, payer }: WorkOwner) => lanes[lane].heldBy(payer);

  return {
    quickest: (owners) => owners.reduce((best, owner) => (heldBy(owner) < heldBy(best) ? owner : best)),
    async run({ lane, payer }, waitMs, work, signal) {
      signal?.throwIfAborted();
      await lanes[lane].turn(payer, free(), waitMs, signal);
      try {
        return await work();
      } finally {
        lanes[lane].leave(payer);
        for (let more = true; more; ) more = lanes.priority.admit(free()) || lanes.standard.admit(free());
      }
    },
  };
}

/** `places`: the most places that this lane may take. */
function createLane(places: number, mostWaiting: number, leavesRoom: boolean) {
  /** Number of running works by payer. */
  const running = new Map<string, number>();
  /** Waiting works by payer, the payer whose turn is next first; each payer's works in the order of arrival. */
  const waiting = new Map<string, Set<() => void>>();
  let runningOfAll = 0;
  let waitingOfAll = 0;

  function mayRun(payer: string, freeOfAll: number): boolean {
    const left = places - runningOfAll;
    return freeOfAll > 0 && (leavesRoom ? (running.get(payer) ?? 0) : 0) < left;
  }

  function enter(payer: string): void {
    running.set(payer, (running.get(payer) ?? 0) + 1);
    runningOfAll += 1;
  }

  const queueOf = (payer: string) => getOrInsert(waiting, payer, () => new Set<() => void>());

  function leaveQueue(payer: string, queue: Set<() => void>, begin: () => void): void {
    if (!queue.delete(begin)) return;
    waitingOfAll -= 1;
    if (queue.size === 0) waiting.delete(payer);
  }

  return {
    get running() {
      return runningOfAll;
    },
    /** Number of works of the payer that run or wait. */
    heldBy: (payer: string) => (running.get(payer) ?? 0) + (waiting.get(payer)?.size ?? 0),
    turn(payer: string, freeOfAll: number, waitMs: number, signal?: AbortSignal): Promise<void> {
      const before = waiting.get(payer)?.size ?? 0;
      if (before === 0 && mayRun(payer, freeOfAll)) {
        enter(payer);
        return Promise.resolve();
      }
      if (before >= mostWaiting - waitingOfAll) return Promise.reject(new QueueFull(payer));
      const queue = queueOf(payer);
      waitingOfAll += 1;
      return new Promise((resolve, reject) => {
        const begin = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', leave);
          resolve();
        };
        const giveUp = (error: unknown) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', leave);
          leaveQueue(payer, queue, begin);
          reject(error);
        };
        const leave = () => giveUp(signal?.reason);
        const timer = setTimeout(() => giveUp(new QueueFull()), waitMs);
        signal?.addEventListener('abort', leave);
        queue.add(begin);
      });
    },
    leave(payer: string): void {
      const left = (running.get(payer) ?? 0) - 1;
      runningOfAll -= 1;
      if (left > 0) running.set(payer, left);
      else running.delete(payer);
    },
    /** Starts one waiting work if there is a free place for one; returns whether it did. */
    admit(freeOfAll: number): boolean {
      for (const [payer, queue] of waiting) {
        const [begin] = queue;
        if (!begin || !mayRun(payer, freeOfAll)) continue;
        leaveQueue(payer, queue, begin);
        // Moves the payer behind all others that wait.
        if (waiting.delete(payer)) waiting.set(payer, queue);
        enter(payer);
        begin();
        return true;
      }
      return false;
    },
  };
}
