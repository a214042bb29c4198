/** Connections that each run one statement at a time; when all are busy, statements wait in order. */

/**
 * Settles like `work`, or rejects at once with the reason of `signal`. Work that has not begun by then never begins; work that has
 * begun keeps its lane until it ends.
 */
export type OnLane<Lane> = <T>(work: (lane: Lane) => Promise<T>, signal: AbortSignal) => Promise<T>;

export function createConnectionLanes<Lane>(lanes: readonly Lane[]): OnLane<Lane> {
  const idle = [...lanes];
  const waiting = new Set<(lane: Lane) => void>();

  function free(lane: Lane): void {
    const [next] = waiting;
    if (!next) idle.push(lane);
    else {
      waiting.delete(next);
      next(lane);
    }
  }

  return (work, signal) =>
    new Promise((resolve, reject) => {
      const begin = (lane: Lane) => {
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
