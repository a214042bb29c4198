/**
 * Semaphore with bounded queues, shared by callers. The priority lane goes first, and some places are its own, so that a flood of the
 * others does not delay it. Within a lane callers take turns, and where it leaves room a caller gets another place only while it holds
 * fewer than the lane has left: alone it has half of them, and whoever comes finds one. The places of a queue are shared in the same way.
 * docs/decisions/0124-places-by-caller.md
 */
import { RetryableError } from '../../schemas/errors.ts';

export type PriorityLane = 'standard' | 'priority';

/** Whose work it is. */
export interface WorkOwner {
  readonly lane: PriorityLane;
  /** The network or identity that pays for it: its callers count as one. */
  readonly payer: string;
}

/** Work that no single caller asked for. */
export const SERVICE: WorkOwner = { lane: 'standard', payer: 'service' };

export interface PriorityLanes {
  /** @throws QueueFull when too many wait, of all or of this owner, or when `waitMs` is over; the reason of a `signal` that aborts before its turn */
  run<T>(owner: WorkOwner, waitMs: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Whose work of these would begin first, for work that is of all of them. */
  quickest(owners: readonly [WorkOwner, ...WorkOwner[]]): WorkOwner;
}

export interface PriorityLanesOptions {
  readonly atOnce: number;
  /** Number of these slots that are reserved for the priority lane. */
  readonly reserved?: number;
  /** In each lane. */
  readonly mostWaiting: number;
  /** Whether a caller alone leaves places to others, or takes all until another waits; true by default. */
  readonly leavesRoom?: boolean;
}

export class QueueFull extends RetryableError {
  /** For whose further work there is no room; null where one has waited too long. */
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

/** `places`: the most that this lane may take. */
function createLane(places: number, mostWaiting: number, leavesRoom: boolean) {
  /** By payer: how many of its works run. */
  const running = new Map<string, number>();
  /** By payer, the one whose turn is next first: its works in the order of their arrival. */
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

  function queueOf(payer: string): Set<() => void> {
    const known = waiting.get(payer);
    if (known) return known;
    const made = new Set<() => void>();
    waiting.set(payer, made);
    return made;
  }

  function leaveQueue(payer: string, queue: Set<() => void>, begin: () => void): void {
    if (!queue.delete(begin)) return;
    waitingOfAll -= 1;
    if (queue.size === 0) waiting.delete(payer);
  }

  return {
    get running() {
      return runningOfAll;
    },
    /** Works that run or wait. */
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
    /** Begins one work that waits. Returns whether there was one that may. */
    admit(freeOfAll: number): boolean {
      for (const [payer, queue] of waiting) {
        const [begin] = queue;
        if (!begin || !mayRun(payer, freeOfAll)) continue;
        leaveQueue(payer, queue, begin);
        // Its next work waits behind those of all others.
        if (waiting.delete(payer)) waiting.set(payer, queue);
        enter(payer);
        begin();
        return true;
      }
      return false;
    },
  };
}
