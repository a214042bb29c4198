/** The server's machine vanishes while a statement waits for its answer, or is only slow. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { ConnectionLostError } from './connection-errors.ts';
import { copyRows } from './copy.ts';
import { openPool } from './pool.ts';
import { createClient } from './typed-client.ts';

const SILENT_MS = 500;
/** More than the relay's queue holds. */
const FILLING = 8;

/** Passes connections on, in a process of its own that can be stopped. Any message closes the port, but no connection. */
const RELAY = `
  const { connect, createServer } = require('node:net');
  const server = createServer((near) => {
    process.send('accepted');
    const far = connect(JSON.parse(process.argv[1]));
    for (const socket of [near, far]) socket.on('error', () => undefined);
    near.pipe(far).pipe(near);
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => process.send(server.address().port));
  process.on('message', () => server.close(() => undefined));
`;

let stores: TestStores;
let relay: ChildProcess;
let port: number;
let accepted: number;
let pool: Pool;
let filling: Socket[] = [];

beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores.close());

beforeEach(async () => {
  const limits = { connectMs: null, statementMs: null, silentMs: null };
  const { user, password, database, ...server } = createClient({ connectionString: stores.databaseUrl }, limits);
  const target = server.host.startsWith('/')
    ? { path: `${server.host}/.s.PGSQL.${server.port}` }
    : { host: server.host, port: server.port };
  relay = spawn(process.execPath, ['-e', RELAY, JSON.stringify(target)], { stdio: ['ignore', 2, 2, 'ipc'] });
  [port] = await once(relay, 'message');
  accepted = 0;
  relay.on('message', () => (accepted += 1));
  const login = { host: '127.0.0.1', port, user: `${user}`, password: `${password}`, database: `${database}` };
  pool = openPool({ ...login, max: 1, idleTimeoutMillis: 0 }, pino({ level: 'silent' }), { silentMs: SILENT_MS });
});

afterEach(async () => {
  for (const socket of filling.splice(0)) socket.destroy();
  relay.kill('SIGKILL');
  await pool.end();
});

/** Stops the relay and fills its queue, so that the system drops further connections: it looks like a machine that has vanished. */
async function vanish(): Promise<void> {
  relay.kill('SIGSTOP');
  filling = Array.from({ length: FILLING }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  await sleep(100);
}

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.fail('it succeeded'),
    (error: unknown) => error,
  );

it('a statement to a machine that has vanished fails, and silence without a statement is nothing', async () => {
  await pool.query('SELECT 1');
  await sleep(3 * SILENT_MS);
  expect(accepted).toBe(1);
  await vanish();
  const error = await errorOf(pool.query('SELECT 2'));
  expect(error).toBeInstanceOf(ConnectionLostError);
  expect(error).toMatchObject({ message: `127.0.0.1:${port} does not answer and accepts no new connection` });
});

it('so does a COPY', async () => {
  const client = await pool.connect();
  await client.query('CREATE TEMP TABLE numbers (n integer)');
  await vanish();
  const rows = (function* () {
    for (;;) yield [1];
  })();
  const error = await errorOf(copyRows(client, 'numbers', ['n'], rows));
  client.release(true);
  expect(error).toBeInstanceOf(ConnectionLostError);
});

it('a slow statement is not cut', async () => {
  const slow = await pool.query('SELECT 5 AS n, pg_sleep($1)', [(6 * SILENT_MS) / 1000]);
  expect(slow.rows).toMatchObject([{ n: 5 }]);
  expect(accepted).toBeGreaterThan(3);
});

it('a slow statement is not cut even if the machine refuses new connections', async () => {
  const slow = pool.query('SELECT 5 AS n, pg_sleep($1)', [(6 * SILENT_MS) / 1000]);
  await expect.poll(() => accepted).toBe(1);
  relay.send('close');
  expect((await slow).rows).toMatchObject([{ n: 5 }]);
  expect(accepted).toBe(1);
});
