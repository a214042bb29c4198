/**
 * One owner per chain and stage: whoever holds its advisory lock in Postgres, on a session of its own. A second lock is held
 * while the stores may disagree: from the start of an owner until it has repaired what an earlier one left, and in every
 * transaction. `holdStill` in audit/hold-still.ts waits for it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg, { type PoolClient } from 'pg';
import type { Postgres } from '../infra/postgres/postgres.ts';
import { RetryableError } from '../schemas/errors.ts';
import type { Stage } from '../schemas/stage-status.ts';

/** What can be owned: a stage of a chain, the audit of all, the guard over prices, the making of a generation. */
export type Owned = Stage | 'audit' | 'price_guard' | 'reprocess';

/** The session that held the lock is gone, so another owner may be at work. */
export class StageLockLost extends RetryableError {
  constructor(stage: Owned, chain: string, cause: unknown) {
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
  /** Says that both stores hold the same again, whatever an earlier owner left; from then on only transactions may part them. */
  inStep(): Promise<void>;
  release(): Promise<void>;
}

const RETRY_MS = 250;

/** Texts that advisory locks are made of. */
export const ownerKey = (stage: Owned, chain: string): string => `verustream:${stage}:${chain}`;
export const changingKey = (stage: Owned, chain: string): string => `verustream:${stage}:${chain}:changing`;

/** Waits until the lock is free; throws when `signal` aborts first. Needs sessions of its own: no transaction pooler. */
export async function acquireStageLock(
  postgres: Postgres,
  stage: Owned,
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

function createStageLock(client: PoolClient, stage: Owned, chain: string, session: Session): StageLock {
  const begin = async (): Promise<void> => {
    try {
      const broken = session.broken();
      if (broken) throw broken;
      await client.query('BEGIN');
      await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [changingKey(stage, chain)]);
    } catch (error) {
      throw new StageLockLost(stage, chain, error);
    }
  };
  let repaired = false;
  return {
    async inStep() {
      if (repaired) return;
      repaired = true;
      await client
        .query('SELECT pg_advisory_unlock(hashtextextended($1, 0))', [changingKey(stage, chain)])
        .catch((error: unknown) => {
          throw new StageLockLost(stage, chain, error);
        });
    },
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

/** Both or none, the second lock first: who sees an owner without it knows that the owner's repair is done. */
async function tryLock(client: PoolClient, stage: Owned, chain: string): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>(
    `SELECT CASE
       WHEN NOT pg_try_advisory_lock(hashtextextended($2, 0)) THEN false
       WHEN pg_try_advisory_lock(hashtextextended($1, 0)) THEN true
       ELSE NOT pg_advisory_unlock(hashtextextended($2, 0))
     END AS held`,
    [ownerKey(stage, chain), changingKey(stage, chain)],
  );
  return rows[0]?.held === true;
}
