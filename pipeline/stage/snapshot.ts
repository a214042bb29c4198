import type { PoolClient } from 'pg';
import type { Postgres } from '../../infra/postgres/postgres.ts';

/** Lets `work` read one snapshot of Postgres while the stages keep writing. */
export function inSnapshot<T>(
  postgres: Pick<Postgres, 'transaction'>,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return postgres.transaction(async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    return work(client);
  });
}
