/** One answer, one snapshot: every statement of a request sees the stores at the same committed block. */
import type pg from 'pg';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { createLanes, type Lane } from '../access/lanes.ts';
import { readServiceState, type ServiceState, STATE_SQL, type StateRow } from './service-state.ts';

export interface Snapshot {
  readonly state: ServiceState;
  rows<T>(sql: string, values?: readonly unknown[]): Promise<T[]>;
  /** The first row, or undefined. */
  row<T>(sql: string, values?: readonly unknown[]): Promise<T | undefined>;
}

export type WithSnapshot = <T>(work: (read: Snapshot) => Promise<T>) => Promise<T>;

const BEGIN = `BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL statement_timeout = '10s'; ${STATE_SQL}`;

/** Snapshots that only the priority lane takes. */
const RESERVED = 2;
/** Who waits longer has asked again by then. */
const WAIT_MS = 15_000;

/** At most `limit` snapshots are open at once, so that requests never take the connections that derive needs. */
export function createSnapshots(postgres: Postgres, release: string, limit: number): (lane: Lane) => WithSnapshot {
  const lanes = createLanes({ atOnce: limit, reserved: RESERVED, mostWaiting: Number.POSITIVE_INFINITY });

  /** The answer does not wait for the end of a transaction that changed nothing. */
  function end(client: pg.PoolClient): void {
    client.query('ROLLBACK').then(
      () => client.release(),
      (error: Error) => client.release(error),
    );
  }

  const withSnapshot: WithSnapshot = async (work) => {
    const client = await postgres.pool.connect();
    try {
      // Three statements in one call answer with three results, which the declared type does not say.
      const [, , state] = (await client.query(BEGIN)) as unknown as pg.QueryResult<StateRow>[];
      const rows = async <R>(sql: string, values: readonly unknown[] = []): Promise<R[]> =>
        (await client.query(sql, [...values])).rows;
      return await work({
        state: readServiceState(state?.rows ?? [], release),
        rows,
        row: async <R>(sql: string, values?: readonly unknown[]) => (await rows<R>(sql, values))[0],
      });
    } finally {
      end(client);
    }
  };
  return (lane) => (work) => lanes.run(lane, WAIT_MS, () => withSnapshot(work));
}
