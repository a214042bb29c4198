import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createTestStores } from '../../test/support/infra/test-stores.ts';
import { connectPostgres } from './postgres.ts';
import { postgresTrouble } from './postgres-errors.ts';

it('a statement that waits for a lock for too long is cancelled and does not take effect later', async () => {
  const stores = await createTestStores();
  const { pool } = stores.postgres;
  await pool.query('CREATE TABLE held (n integer)');
  const holder = await pool.connect();
  await holder.query('BEGIN; LOCK TABLE held');
  const limited = await connectPostgres({
    url: stores.databaseUrl,
    logger: pino({ level: 'silent' }),
    statementMs: 200,
  });
  const error: unknown = await limited.pool.query('INSERT INTO held VALUES (1)').catch((caught: unknown) => caught);
  expect(postgresTrouble(error)?.code).toBe('postgres_interrupted');
  await holder.query('COMMIT');
  holder.release();
  expect((await pool.query('SELECT * FROM held')).rows).toEqual([]);
  await limited.close();
  await stores.close();
});
