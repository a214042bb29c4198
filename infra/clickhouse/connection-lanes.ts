/** Connections that run one statement at a time each; statements that find none free wait in order. */
import type { Client } from './clickhouse.ts';

export interface ConnectionLane {
  readonly client: Client;
}

/**
 * Settles like `work`, or rejects at once with the reason of `signal`. Work that has not begun by then never begins; work that has
 * begun keeps its lane until it ends.
 */
export type OnLane = <T>(work: (lane: ConnectionLane) => Promise<T>, signal: AbortSignal) => Promise<T>;

export function createConnectionLanes(lanes: readonly ConnectionLane[]): OnLane {
  const idle = [...lanes];
  const waiting = new Set<(lane: ConnectionLane) => void>();

  function free(lane: ConnectionLane): void {
    const [next] = waiting;
    if (!next) idle.push(lane);
    else {
      waiting.delete(next);
      next(lane);
    }
  }

  return (work, signal) =>
    new Promise((resolve, reject) => {
      const begin = (lane: ConnectionLane) => {
        work(lane)
          .then(resolve, reject)
          .finally(() => {
            signal.removeEventListener('abort', giveUp);
            free(lane);
          });
      };
      const giveUp = () => {
        waiting.delete(begin);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      const lane = idle.pop();
      if (lane) begin(lane);
      else waiting.add(begin);
    });
}
