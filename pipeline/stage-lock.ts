/** One owner per chain and stage: whoever holds its advisory lock in Postgres, on a session of its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg, { type PoolClient } from 'pg';
import type { Postgres } from '../infra/postgres/postgres.ts';
import { RetryableError } from '../schemas/errors.ts';
import type { Stage } from '../schemas/stage-status.ts';

/** The session that held the lock is gone, so another owner may be at work. */
export class StageLockLost extends RetryableError {
  constructor(stage: Stage, chain: string, cause: unknown) {
    const message = `The lock of ${stage} for ${chain} was lost with its Postgres session; the stage starts again.`;
    super('stage_lock_lost', message, { cause });
  }
}

export interface StageLock {
  /**
   * Commits when `work` resolves, rolls back when it rejects. It runs on the session that holds the lock: who lost the lock
   * can commit nothing. @throws StageLockLost
   */
  transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
  release(): Promise<void>;
}

const RETRY_MS = 250;

/** Waits until the lock is free; throws when `signal` aborts first. Needs sessions of its own: no transaction pooler. */
export async function acquireStageLock(
  postgres: Postgres,
  stage: Stage,
  chain: string,
  signal: AbortSignal,
): Promise<StageLock> {
  signal.throwIfAborted();
  let broken: Error | null = null;
  const onError = (error: Error): void => {
    broken ??= error;
  };
  // Not from the shared pool: locks are held for ever, and any number of chains has one each.
  const session = new pg.Pool({ ...postgres.pool.options, max: 1, idleTimeoutMillis: 0 }).on('error', onError);
  const end = async (client: PoolClient | null): Promise<void> => {
    client?.release(true);
    await session.end();
  };
  let client: PoolClient | null = null;
  try {
    client = (await session.connect()).on('error', onError);
    while (!(await tryLock(client, stage, chain))) await sleep(RETRY_MS, undefined, { signal });
  } catch (error) {
    await end(client);
    throw error;
  }
  return createStageLock(client, stage, chain, { broken: () => broken, onError, end });
}

interface Session {
  readonly broken: () => Error | null;
  readonly onError: (error: Error) => void;
  readonly end: (client: PoolClient) => Promise<void>;
}

function createStageLock(client: PoolClient, stage: Stage, chain: string, session: Session): StageLock {
  const begin = async (): Promise<void> => {
    try {
      const broken = session.broken();
      if (broken) throw broken;
      await client.query('BEGIN');
    } catch (error) {
      throw new StageLockLost(stage, chain, error);
    }
  };
  return {
    async transaction(work) {
      await begin();
      try {
        const result = await work(client);
        await client.query('COMMIT');
        return result;
      } catch (error) {
        await client.query('ROLLBACK').catch(session.onError);
        if (session.broken()) throw new StageLockLost(stage, chain, error);
        throw error;
      }
    },
    async release() {
      // Said aloud, the next owner need not wait until the server notices the end of the session.
      await client.query('SELECT pg_advisory_unlock_all()').catch(session.onError);
      await session.end(client);
    },
  };
}

async function tryLock(client: PoolClient, stage: Stage, chain: string): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS held',
    [`verustream:${stage}:${chain}`],
  );
  return rows[0]?.held === true;
}
