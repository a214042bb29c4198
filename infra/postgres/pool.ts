/** Every pool of connections to Postgres is opened here: a connection may end at any moment, and none takes the process with it. */
import type pg from 'pg';
import type { Logger } from '../logger.ts';
import { createPool, type Limits } from './typed-client.ts';

const LIMITS: Limits = { connectMs: 15_000, statementMs: null };
/** A peer that is gone without a word is noticed about 20 s later: a connection that waits asks whether it is still there. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;
/** When a server ends, its connections end together: one log line covers all. */
const GATHER_MS = 500;

/** The options of a pool, except its time limits, which `Limits` holds. */
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

  /** The pool's own goodbye may still be under way when the server ends. */
  function count({ message }: Error): void {
    if (pool.ending) return;
    if (lost === 0) {
      reason = message;
      setTimeout(warn, GATHER_MS).unref();
    }
    lost += 1;
  }

  // For as long as the connection lives, also while a caller uses it, whose statement then rejects.
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
