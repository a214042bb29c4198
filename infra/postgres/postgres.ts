/** One pool of connections to Postgres, embedded or by URL: same client, same SQL. */
import pg from 'pg';
import { PermanentError, RetryableError } from '../../schemas/errors.ts';
import type { Logger } from '../logger.ts';
import { storeTypes } from './values.ts';

export interface Postgres {
  readonly pool: pg.Pool;
  /** Commits when `work` resolves, rolls back when it rejects. */
  transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export class PostgresUnreachable extends RetryableError {
  constructor(message: string, cause: unknown) {
    super('postgres_unreachable', message, { cause });
  }
}

export class PostgresRefused extends PermanentError {
  constructor(message: string, cause: unknown) {
    super('postgres_refused', message, { cause });
  }
}

export interface PostgresOptions {
  readonly url: string;
  readonly logger: Logger;
  readonly maxConnections?: number;
}

const DEFAULT_CONNECTIONS = 16;

/** Connects and asks once, so that a wrong URL or password is known at start. */
export async function connectPostgres(options: PostgresOptions): Promise<Postgres> {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.maxConnections ?? DEFAULT_CONNECTIONS,
    types: storeTypes as unknown as pg.CustomTypesConfig,
    application_name: 'verustream',
    options: '-c timezone=UTC',
  });
  let closed = false;
  pool.on('error', ({ message }) => {
    // The pool's own goodbye may still be under way when the server ends.
    if (!closed) options.logger.warn(`an idle Postgres connection was lost: ${message}`);
  });
  try {
    await pool.query('SELECT 1');
  } catch (cause) {
    await pool.end();
    throw connectError(cause, new URL(options.url));
  }
  return {
    pool,
    close() {
      closed = true;
      return pool.end();
    },
    async transaction(work) {
      const client = await pool.connect();
      let broken: unknown = null;
      try {
        await client.query('BEGIN');
        const result = await work(client);
        await client.query('COMMIT');
        return result;
      } catch (error) {
        broken = await client.query('ROLLBACK').then(
          () => null,
          (rollbackError: unknown) => rollbackError,
        );
        throw error;
      } finally {
        client.release(broken !== null);
      }
    },
  };
}

function connectError(cause: unknown, url: URL): Error {
  const where = `${url.hostname}:${url.port || 5432}${url.pathname}`;
  const message = cause instanceof Error ? cause.message || cause.name : String(cause);
  const sqlState = (cause as { code?: unknown }).code;
  if (sqlState === '28P01' || sqlState === '28000' || sqlState === '3D000') {
    return new PostgresRefused(`Postgres at ${where} refused the connection: ${message}. Check DATABASE_URL.`, cause);
  }
  return new PostgresUnreachable(`Postgres at ${where} cannot be reached: ${message}. Check DATABASE_URL.`, cause);
}
