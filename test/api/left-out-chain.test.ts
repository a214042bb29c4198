/** A chain that was removed from the configuration: its rows, which the stores still have, are in no answer and break none. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { answersOf, differing } from '../system/answers.ts';
import { CHAIN, type RunningService, startService } from './running-service.ts';

const GONE = 'gone';
let service: RunningService;
beforeAll(async () => {
  service = await startService();
  await service.settled(true);
});
afterAll(() => service?.stop());

const answers = () =>
  answersOf({
    async get(path) {
      const answer = await fetch(`${service.url}${path}`);
      return { status: answer.status, body: await answer.text(), headers: Object.fromEntries(answer.headers) };
    },
  });

it('answers are those of stores without it, and keys of its identities are not valid', async () => {
  const key = await service.issueKey('pro');
  const before = await answers();
  expect(Object.keys(before).length).toBeGreaterThan(60);
  await copyPostgres();
  await copyClickHouse();
  await service.restartApi();
  expect(differing(await answers(), before)).toEqual({});
  const withKey = () => fetch(`${service.url}/api/stats/`, { headers: { authorization: `Bearer ${key}` } });
  expect((await withKey()).status).toBe(200);
  await service.stores.postgres.pool.query(`UPDATE api_keys SET chain = '${GONE}'`);
  await service.restartApi();
  expect((await withKey()).status).toBe(401);
});

/** Copies all rows of the chain in Postgres under the other name. */
async function copyPostgres(): Promise<void> {
  const { pool } = service.stores.postgres;
  const { rows } = await pool.query<{ name: string; columns: string[] }>(
    `SELECT table_name AS name, array_agg(column_name::text) AS columns FROM information_schema.columns
     JOIN information_schema.tables USING (table_schema, table_name)
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND is_generated = 'NEVER' AND is_identity = 'NO'
     GROUP BY table_name HAVING bool_or(column_name = 'chain') ORDER BY table_name`,
  );
  expect(rows.length).toBeGreaterThan(20);
  for (const table of rows) {
    const values = table.columns.map((name) => (name === 'chain' ? `'${GONE}'` : `"${name}"`));
    const names = table.columns.map((name) => `"${name}"`);
    await pool.query(
      `INSERT INTO ${table.name} (${names}) SELECT ${values} FROM ${table.name} WHERE chain = '${CHAIN}' ON CONFLICT DO NOTHING`,
    );
  }
}

async function copyClickHouse(): Promise<void> {
  const { clickhouse } = service.stores;
  const tables = await clickhouse.rows(
    rowReader({ held: columns.text }),
    `SELECT table AS held FROM system.columns WHERE database = currentDatabase() AND name = 'chain' AND NOT startsWith(table, 'v_')`,
  );
  expect(tables.length).toBeGreaterThan(10);
  for (const { held } of tables) {
    await clickhouse.command(
      `INSERT INTO ${held} SELECT * REPLACE ('${GONE}' AS chain) FROM (SELECT * FROM ${held} WHERE chain = '${CHAIN}')`,
    );
  }
  const [copied] = await clickhouse.rows(
    rowReader({ conversions: columns.text }),
    `SELECT count() AS conversions FROM conversions WHERE chain = '${GONE}'`,
  );
  expect(Number(copied?.conversions)).toBeGreaterThan(100);
}
