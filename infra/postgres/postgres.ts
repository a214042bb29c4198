/** A pool of connections to Postgres, embedded or by URL: same client, same SQL. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { messageOf } from '../../schemas/errors.ts';
import type { Logger } from '../logger.ts';
import { placeOfPostgres } from '../server-address.ts';
import { errorCode } from '../system-errors.ts';
import { openPool, type PoolConfig } from './pool.ts';
import { PostgresRefused, PostgresTrouble, postgresTrouble } from './postgres-errors.ts';
import type { Limits } from './typed-client.ts';
import { storeTypes } from './values.ts';

export interface Postgres {
  readonly pool: pg.Pool;
  /** Opens another pool to the same database; `config` overrides the options of this pool. */
  openPool(config: PoolConfig, limits?: Partial<Limits>): pg.Pool;
  /** Commits when `work` resolves, rolls back when it rejects. */
  transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface PostgresOptions {
  readonly url: string;
  readonly logger: Logger;
  readonly maxConnections?: number;
  /** Whether to wait for a server that is starting or has no free connection. */
  readonly isWaitedFor?: boolean;
  /** Time limit of the first statement: a pooler accepts connections even if its server is unreachable. */
  readonly answerMs?: number;
  /** Time limit of each statement: the server cancels it, so that it cannot take effect later. */
  readonly statementMs?: number;
}

const DEFAULT_CONNECTIONS = 16;
const ANSWER_MS = 30_000;
const RETRY_MS = 1_000;
/** Extra time for the server to cancel a slow statement itself before it counts as silent. */
export const SILENCE_MS = 2_000;
/** A server that returns one of these errors is the right one, so the start waits for it. */
const PASSING = new Set(['postgres_starting', 'postgres_full']);

/** Connects and runs one query, so that a wrong URL or password is noticed at start. @throws PostgresRefused, PostgresTrouble */
export async function connectPostgres(options: PostgresOptions): Promise<Postgres> {
  const { statementMs } = options;
  const pool = openPool(
    {
      connectionString: options.url,
      max: options.maxConnections ?? DEFAULT_CONNECTIONS,
      types: storeTypes as unknown as pg.CustomTypesConfig,
      application_name: 'verustream',
      options: `-c timezone=UTC${statementMs === undefined ? '' : ` -c statement_timeout=${statementMs}`}`,
    },
    options.logger,
    { statementMs: statementMs === undefined ? null : statementMs + SILENCE_MS },
  );
  try {
    await firstAnswer(pool, options);
  } catch (cause) {
    await pool.end();
    throw connectError(cause, options.url);
  }
  return {
    pool,
    openPool: (config, limits) => openPool({ ...pool.options, ...config }, options.logger, limits),
    close: () => pool.end(),
    transaction: (work) => inTransaction(pool, work),
  };
}

const MOST_RETRIES = 30;

/** Repeats `work`, an idempotent step of a start, while a server that is known to be the right one recovers. */
export async function retryWhileRecovering<T>(work: () => Promise<T>, logger: Logger): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await work();
    } catch (error) {
      const trouble = postgresTrouble(error);
      if (!trouble || retries === MOST_RETRIES) throw trouble ?? error;
      if (retries === 0) logger.warn({ code: trouble.code }, `${trouble.message}; waiting for it`);
      await sleep(RETRY_MS);
    }
  }
}

/** Commits when `work` resolves, rolls back when it rejects. */
export async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    return await inTransactionOf(client, work);
  } catch (error) {
    // A lost or silent connection does not answer ROLLBACK either: closing it makes the server roll back.
    broken = postgresTrouble(error)?.code === 'postgres_unreachable' || !(await rollBack(client));
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Lends `work` a connection, which is closed if `work` rejects. */
export async function withClient<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isWhole = false;
  try {
    const done = await work(client);
    isWhole = true;
    return done;
  } finally {
    client.release(!isWhole);
  }
}

/** Runs a transaction on a connection that the caller must close or roll back if this rejects. */
export async function inTransactionOf<T>(
  client: pg.PoolClient,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  await client.query('BEGIN');
  const result = await work(client);
  await client.query('COMMIT');
  return result;
}

const rollBack = (client: pg.PoolClient): Promise<boolean> =>
  client.query('ROLLBACK').then(
    () => true,
    () => false,
  );

async function firstAnswer(
  pool: pg.Pool,
  { logger, isWaitedFor = true, answerMs = ANSWER_MS }: PostgresOptions,
): Promise<void> {
  const question = { text: 'SELECT 1', query_timeout: answerMs };
  for (let tries = 1; ; tries++) {
    try {
      await pool.query(question);
      return;
    } catch (error) {
      const trouble = postgresTrouble(error);
      if (!trouble || !PASSING.has(trouble.code)) throw error;
      if (!isWaitedFor) throw trouble;
      if (tries === 1) logger.warn({ code: trouble.code }, `${trouble.message}; waiting for it`);
      await sleep(RETRY_MS);
    }
  }
}

export function connectError(cause: unknown, address: string): Error {
  if (cause instanceof PostgresTrouble) return cause;
  const where = placeOfPostgres(address);
  const message = messageOf(cause);
  const sqlState = errorCode(cause);
  if (sqlState === '28P01' || sqlState === '28000' || sqlState === '3D000') {
    return new PostgresRefused(`Postgres at ${where} refused the connection: ${message}. Check DATABASE_URL.`, cause);
  }
  const detail = `Postgres at ${where} cannot be reached: ${message}. Check DATABASE_URL.`;
  return new PostgresTrouble('postgres_unreachable', detail, { cause });
}
