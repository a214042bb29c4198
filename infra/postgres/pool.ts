/** Opens every pool of connections to Postgres. A connection may end at any moment without crashing the process. */
import type pg from 'pg';
import type { Logger } from '../logger.ts';
import { createPool, type Limits } from './typed-client.ts';

const LIMITS: Limits = { connectMs: 15_000, statementMs: null, silentMs: 20_000 };
/** TCP keep-alive probes on silent connections notice a vanished peer after about 20 s, unless sent bytes are unacknowledged: see vanished-peer.ts. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;
/** When a server ends, all its connections end: within this time they share one log line. */
const GATHER_MS = 500;

/** The options of a pool except its time limits, which are in `Limits`. */
export type PoolConfig = Omit<pg.PoolConfig, 'connectionTimeoutMillis' | 'query_timeout'>;

export function openPool(config: PoolConfig, logger: Logger, limits: Partial<Limits> = {}): pg.Pool {
  const pool = createPool({ ...KEEP_ALIVE, ...config }, { ...LIMITS, ...limits });
  let lost = 0;
  let reason = '';

  function warn(): void {
    const connections = lost === 1 ? 'a Postgres connection was lost' : `${lost} Postgres connections were lost`;
    logger.warn({ name: config.application_name, lost }, `${connections}: ${reason}`);
    lost = 0;
  }

  /** Ignores a pool that is closing: the server may end before its connections are closed. */
  function count({ message }: Error): void {
    if (pool.ending) return;
    if (lost === 0) {
      reason = message;
      setTimeout(warn, GATHER_MS).unref();
    }
    lost += 1;
  }

  // Listens for the life of the connection, even while a caller uses it, whose statement then rejects.
  pool.on('connect', (client) => {
    let isReported = false;
    client.on('error', (error) => {
      if (!isReported) count(error);
      isReported = true;
    });
  });
  pool.on('error', () => undefined); // an idle connection has already reported it
  return pool;
}
