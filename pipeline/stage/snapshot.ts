import type { PoolClient } from 'pg';
import type { Postgres } from '../../infra/postgres/postgres.ts';

/** Lets `work` read Postgres as of one moment, while the stages go on writing. */
export function inSnapshot<T>(
  postgres: Pick<Postgres, 'transaction'>,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return postgres.transaction(async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    return work(client);
  });
}
