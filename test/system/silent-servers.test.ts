/** Commands while some of the servers of the stores and the log do not answer. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestStores, type TestStores } from '../support/infra/test-stores.ts';
import { type ProgramSettings, runCommand, startProgram, until } from './program.ts';
import { settingsFor } from './recorded-chain.ts';

const NOWHERE = '127.0.0.1:1';
const sockets = new Set<Socket>();
/** Accepts connections and never answers. */
const silent = createServer((socket) => sockets.add(socket));
let stores: TestStores;
let settings: ProgramSettings;

beforeAll(async () => {
  stores = await createTestStores();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { VERUSTREAM_CONFIG = '' } = settingsFor(`http://${NOWHERE}`);
  const servers = { CLICKHOUSE_URL: `http://${NOWHERE}/db`, KAFKA_BROKERS: NOWHERE };
  settings = { VERUSTREAM_CONFIG, DATABASE_URL: stores.databaseUrl, ...servers };
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  silent.close();
  await stores?.close();
});

it.each([
  [['status'], 1, /never started/],
  [['dead-letters', 'list'], 0, /^/],
  [['keys', 'vrsc', 'nobody@'], 2, /knows no identity/],
  [['accept-rewind', 'vrsc', '7', 'a'.repeat(64)], 0, /may be rewound to block 7 once/],
])('%j needs only Postgres', async (words, code, said) => {
  const ended = await runCommand(words, settings);
  expect(ended.output).toMatch(said);
  expect(ended.code).toBe(code);
});

it('a command that needs only Postgres changes no tables', async () => {
  const { pool } = stores.postgres;
  const [newest] = (await pool.query('SELECT name, sha256 FROM migrations ORDER BY name DESC LIMIT 1')).rows;
  await pool.query('DELETE FROM migrations WHERE name = $1', [newest?.name]);
  const ended = await runCommand(['status'], settings);
  expect(ended.output).toContain(`lacks migration ${newest?.name}`);
  expect(ended).toMatchObject({ code: 1, output: expect.stringContaining('stores_older') });
  const migrating = await pool.connect();
  await migrating.query('SELECT pg_advisory_lock(7381402911)');
  expect((await runCommand(['status'], settings)).output).toContain('(stores_migrating)');
  await migrating.query('SELECT pg_advisory_unlock_all()');
  migrating.release();
  await pool.query('INSERT INTO migrations VALUES ($1, $2)', [newest?.name, newest?.sha256]);
});

it('reports a Postgres that accepts no writes', async () => {
  const database = new URL(stores.databaseUrl).pathname.slice(1);
  const { pool } = stores.postgres;
  await pool.query(`ALTER DATABASE ${database} SET default_transaction_read_only = on`);
  const ended = await runCommand(['accept-rewind', 'vrsc', '7', 'a'.repeat(64)], settings);
  expect(ended).toMatchObject({ code: 1, output: expect.stringContaining('(postgres_read_only)') });
  const writer = await pool.connect();
  await writer.query(
    `SET default_transaction_read_only = off; ALTER DATABASE ${database} RESET default_transaction_read_only`,
  );
  writer.release();
});

it('Ctrl-C ends a command that waits for a store, and reports that it had not begun', async () => {
  const waiting = startProgram(
    { ...settings, CLICKHOUSE_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/db` },
    { args: ['audit'] },
  );
  await until('the command has asked ClickHouse', () => sockets.size > 0);
  const ended = await waiting.kill('SIGTERM');
  expect(ended).toMatchObject({ code: 1, output: expect.stringContaining('(command_stopped)') });
});

it('does not wait for a Postgres without free connections', async () => {
  const database = new URL(stores.databaseUrl).pathname.slice(1);
  const holder = await stores.postgres.pool.connect();
  await holder.query(`ALTER DATABASE ${database} CONNECTION LIMIT 0`);
  const ended = await runCommand(['status'], settings);
  expect(ended).toMatchObject({ code: 1, output: expect.stringContaining('(postgres_full)') });
  await holder.query(`ALTER DATABASE ${database} CONNECTION LIMIT -1`);
  holder.release();
});
