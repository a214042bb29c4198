import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { copyOut } from '../../pipeline/datasets/copied-rows.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { untilCancelled } from './cancelled-statements.ts';
import { inTransaction } from './postgres.ts';

let stores: TestStores;
let folder: string;
beforeAll(async () => {
  stores = await createTestStores();
  folder = await mkdtemp(join(tmpdir(), 'verustream-cancelled-'));
});
afterAll(async () => {
  await stores?.close();
  await rm(folder, { recursive: true, force: true });
});

/** The number of active statements of other connections. */
async function running(pattern: string): Promise<number> {
  const sql = `SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE $1 AND pid <> pg_backend_pid()`;
  return (await stores.postgres.pool.query(sql, [pattern])).rows.length;
}

it.each([
  ['sends rows', "SELECT n, repeat('x', 100) FROM generate_series(1, 1000000000000) n"],
  ['has sent none', 'SELECT pg_sleep(3600)'],
])('an abort cancels a copy that %s, and its connection stays open', async (_, statement) => {
  const { pool } = stores.postgres;
  const caller = new AbortController();
  let pid: unknown;
  const copied = inTransaction(pool, async (client) => {
    pid = (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
    const copy = () => copyOut(client, { statement, structure: '' }, folder);
    return untilCancelled(pool, client, caller.signal, copy);
  });
  const gone = expect(copied).rejects.toThrow('gone');
  await expect.poll(() => running(`COPY (${statement})%`)).toBe(1);
  caller.abort(new Error('gone'));
  await gone;
  expect(await running('COPY%')).toBe(0);
  expect(await readdir(folder)).toEqual([]);
  expect((await pool.query('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [pid])).rows).toHaveLength(1);
});

it('begins nothing after the signal has aborted, and passes errors of the statement on unchanged', async () => {
  const { pool } = stores.postgres;
  const work = (signal: AbortSignal, sql: string) =>
    inTransaction(pool, (client) => untilCancelled(pool, client, signal, () => client.query(sql)));
  await expect(work(AbortSignal.abort(new Error('gone')), 'SELECT 1')).rejects.toThrow('gone');
  await expect(work(new AbortController().signal, 'SELECT 1 / 0')).rejects.toMatchObject({ code: '22012' });
});
