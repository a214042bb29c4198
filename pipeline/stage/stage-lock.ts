/**
 * Gives each stage of a chain one owner, by an advisory lock in Postgres on a dedicated session. The owner holds a second lock while the
 * stores may disagree: from its start until it has repaired what an earlier owner left, and in every transaction. `pauseStages` waits
 * for the second lock.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { shared } from '../../infra/shared.ts';
import { RetryableError } from '../../schemas/errors.ts';
import type { OwnedStage } from '../../schemas/stages.ts';

/** The session that held the lock has ended, so another owner may be active. */
export class StageLockLost extends RetryableError {
  constructor(stage: OwnedStage, chain: string, cause: unknown) {
    const message = `The lock of ${stage} for ${chain} was lost with its Postgres session; the stage restarts.`;
    super('stage_lock_lost', message, { cause });
  }
}

export interface StageLock {
  /**
   * Commits when `work` resolves, rolls back when it rejects. Runs on the session that holds the lock, so an owner that has lost the lock
   * cannot commit. @throws StageLockLost
   */
  transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
  /** Call when both stores agree again after any leftovers of an earlier owner; from then on they differ only during transactions. */
  inStep(): Promise<void>;
  /** Calls `heard` with each payload on a channel while the lock is held, on the session that holds it. @throws StageLockLost */
  listen(channel: string, heard: (payload: string) => void): Promise<void>;
  /** Resolves if the lock was held at some moment of the last `LEASE_MS`. @throws StageLockLost */
  prove(): Promise<void>;
  release(): Promise<void>;
}

const RETRY_MS = 250;
/** How long after a proof the owner may write to a store without transactions; a new owner waits as long before it cuts back. */
export const LEASE_MS = 1000;
/** Time for a write that begins at the end of a lease to reach the store. */
const PROOF_MS = LEASE_MS / 2;

/**
 * Lets the server notice within half a minute that the owner's machine has vanished. By the system's own settings it may take hours, and
 * until then no other owner gets the lock.
 */
const NOTICE_VANISHED = `SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
  SET tcp_user_timeout = '25s'`;

/** The texts whose hashes are the keys of the advisory locks. */
export const ownerKey = (stage: OwnedStage, chain: string): string => `verustream:${stage}:${chain}`;
export const changingKey = (stage: OwnedStage, chain: string): string => `verustream:${stage}:${chain}:changing`;

/**
 * Waits until the lock is free, after a call of `taken` if it is not; throws when `signal` aborts first. Needs a real session, so it does not
 * work through a transaction pooler.
 */
export async function acquireStageLock(
  postgres: Postgres,
  stage: OwnedStage,
  chain: string,
  signal: AbortSignal,
  taken: () => void = () => undefined,
): Promise<StageLock> {
  signal.throwIfAborted();
  let broken: Error | null = null;
  const onError = (error: Error): void => {
    broken ??= error;
  };
  // Not from the shared pool: a lock is held forever, and each of any number of chains needs one.
  const session = postgres.openPool({ max: 1, idleTimeoutMillis: 0 }).on('error', onError);
  const end = async (client: PoolClient | null): Promise<void> => {
    client?.release(true);
    await session.end();
  };
  let client: PoolClient | null = null;
  try {
    client = (await session.connect()).on('error', onError);
    await client.query(NOTICE_VANISHED);
    const backend = await readBackend(client);
    if (!(await tryLock(client, stage, chain))) {
      taken();
      do await sleep(RETRY_MS, undefined, { signal });
      while (!(await tryLock(client, stage, chain)));
    }
    const isHeld = () => holdsLock(postgres, backend, ownerKey(stage, chain));
    return createStageLock(client, stage, chain, { broken: () => broken, onError, end, isHeld });
  } catch (error) {
    await end(client);
    throw error;
  }
}

/** ClickHouse cannot fence an owner that has lost its lock, so each write checks the lock just before it begins. */
export function fencedBy<S extends { readonly clickhouse: ClickHouse }>(lock: StageLock, stores: S): S {
  return { ...stores, clickhouse: stores.clickhouse.guarded(() => lock.prove()) };
}

/** Includes the start time: after a restart of the server another backend may have the same process id. */
const backendRow = rowReader({ pid: columns.number, since: columns.text });
type Backend = RowRead<typeof backendRow>;

async function readBackend(client: PoolClient): Promise<Backend> {
  const sql = 'SELECT pid, backend_start::text AS since FROM pg_stat_activity WHERE pid = pg_backend_pid()';
  const backend = await readRow(client, backendRow, sql);
  if (!backend) throw new TypeError('Postgres does not list its own backend');
  return backend;
}

/** Uses another connection, since that of the lock may be in the middle of a COPY. */
async function holdsLock({ pool }: Postgres, { pid, since }: Backend, key: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE pid = $1 AND backend_start = $2::timestamptz AND locktype = 'advisory' AND granted AND objsubid = 1
       AND (classid::bigint << 32 | objid::bigint) = hashtextextended($3, 0)`,
    [pid, since, key],
  );
  return rowCount === 1;
}

interface Session {
  /** @throws the error that keeps Postgres from answering */
  readonly isHeld: () => Promise<boolean>;
  readonly broken: () => Error | null;
  readonly onError: (error: Error) => void;
  readonly end: (client: PoolClient) => Promise<void>;
}

function createStageLock(client: PoolClient, stage: OwnedStage, chain: string, session: Session): StageLock {
  let provenAt = Number.NEGATIVE_INFINITY;
  const checkSession = (): void => {
    const broken = session.broken();
    if (broken) throw new StageLockLost(stage, chain, broken);
  };
  const proof = shared(async () => {
    const asked = performance.now();
    if (!(await session.isHeld())) throw new StageLockLost(stage, chain, session.broken());
    provenAt = asked;
  });
  const key = client.escapeLiteral(changingKey(stage, chain));
  const begin = async (): Promise<void> => {
    checkSession();
    const asked = performance.now();
    try {
      // One message: in a busy process each further message waits for its turn of the event loop.
      await client.query(`BEGIN; SELECT pg_advisory_xact_lock(hashtextextended(${key}, 0))`);
    } catch (error) {
      throw new StageLockLost(stage, chain, error);
    }
    provenAt = asked;
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
    async listen(channel, heard) {
      checkSession();
      client.on('notification', (notification) => {
        if (notification.channel === channel) heard(notification.payload ?? '');
      });
      await client.query(`LISTEN ${channel}`).catch((error: unknown) => {
        throw new StageLockLost(stage, chain, error);
      });
    },
    async prove() {
      checkSession();
      // The monotonic clock also counts the time for which the process was paused.
      while (performance.now() - provenAt > PROOF_MS) await proof();
      checkSession();
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
      // An explicit unlock, so that the next owner need not wait until the server notices the end of the session.
      await client.query('SELECT pg_advisory_unlock_all()').catch(session.onError);
      await session.end(client);
    },
  };
}

const readHeld = rowReader({ held: columns.boolean });

/** Takes both locks or none, the second one first, so that an owner without the second lock has finished its repair. */
async function tryLock(client: PoolClient, stage: OwnedStage, chain: string): Promise<boolean> {
  const row = await readRow(
    client,
    readHeld,
    `SELECT CASE
       WHEN NOT pg_try_advisory_lock(hashtextextended($2, 0)) THEN false
       WHEN pg_try_advisory_lock(hashtextextended($1, 0)) THEN true
       ELSE NOT pg_advisory_unlock(hashtextextended($2, 0))
     END AS held`,
    [ownerKey(stage, chain), changingKey(stage, chain)],
  );
  return row?.held === true;
}
