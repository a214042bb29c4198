/** Ticks all connections from time to time: heartbeats, slow clients, and the metric of unsent bytes. */
import { metrics } from '../../infra/metrics.ts';
import { createPace } from '../../infra/pace.ts';
import type { PushConnection } from './push-connection.ts';

const TICK_MS = 500;
/** The heartbeats of all quiet clients are due at once after a block, and each is a call of the system. */
const PACE = { sliceMs: 5, restMs: 5 };

/** Returns a function that stops the ticks. `connections` must allow changes while it is iterated, like a Set. */
export function tickConnections(connections: () => Iterable<PushConnection>): () => void {
  const pace = createPace(PACE);
  let isTicking = false;
  let isStopped = false;

  async function tickAll(): Promise<void> {
    isTicking = true;
    let buffered = 0;
    for (const connection of connections()) {
      if (pace.isSpent()) await pace.rest();
      if (isStopped) return;
      connection.tick(performance.now());
      buffered += connection.buffered();
    }
    metrics.websocketBufferedBytes.set(buffered);
    isTicking = false;
  }

  const timer = setInterval(() => {
    if (!isTicking) void tickAll();
  }, TICK_MS);
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}
