/** So many at a time, so many waiting, and a clear refusal for the rest: a queue that only grows helps nobody. */
import { RPC_CODES } from '../../../schemas/verusd/rpc-envelope.ts';
import { RpcError } from '../rpc-error.ts';

export interface Gate {
  /** @throws RpcError -32603 `Work queue depth exceeded`, the daemon's own words, when it is full or `waitMs` is over */
  run<T>(waitMs: number, work: () => Promise<T>): Promise<T>;
}

const full = () => new RpcError(RPC_CODES.internalError, 'Work queue depth exceeded');

export function createGate(atOnce: number, mostWaiting: number): Gate {
  const waiting = new Set<() => void>();
  let running = 0;

  function turn(waitMs: number): Promise<void> {
    if (running < atOnce) {
      running += 1;
      return Promise.resolve();
    }
    if (waiting.size >= mostWaiting) return Promise.reject(full());
    return new Promise((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(enter);
        reject(full());
      }, waitMs);
      waiting.add(enter);
    });
  }

  /** A place that is given on is never free in between. */
  function leave(): void {
    const [next] = waiting;
    if (!next) {
      running -= 1;
      return;
    }
    waiting.delete(next);
    next();
  }

  return {
    async run(waitMs, work) {
      await turn(waitMs);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
