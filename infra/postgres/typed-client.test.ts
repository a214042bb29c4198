/** Each failure of a connection has its type, in whichever form the driver reports it. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { ConnectionLostError, ConnectTimeoutError, QueryTimeoutError } from './connection-errors.ts';
import { copyRows } from './copy.ts';
import { openPool } from './pool.ts';
import { postgresTrouble } from './postgres-errors.ts';
import { createClient, createPool } from './typed-client.ts';

const NO_LIMITS = { connectMs: null, statementMs: null, silentMs: null };
const logger = pino({ level: 'silent' });

let stores: TestStores;
let connectionString: string;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  stores = await createTestStores();
  connectionString = stores.databaseUrl;
  await stores.postgres.pool.query('CREATE TABLE numbers (n integer)');
});

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

afterAll(() => stores.close());

const faultOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.fail('it succeeded'),
    (error: unknown) => error,
  );

/** A server that accepts connections and passes each to `treat`. */
async function peer(treat: (socket: Socket) => void): Promise<string> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    closing.push(async () => socket.destroy());
    treat(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => server.close());
  const address = server.address();
  return `postgres://x@127.0.0.1:${typeof address === 'object' ? address?.port : ''}/x?sslmode=disable`;
}

async function connected() {
  const client = createClient({ connectionString }, NO_LIMITS);
  client.on('error', () => undefined);
  await client.connect();
  closing.push(() => client.end());
  return client;
}

describe('ConnectionLostError', () => {
  it('rejects the statement under way, the queued one and the next when the socket closes', async () => {
    const client = await connected();
    const heard = once(client, 'error').catch((error: unknown) => [error]);
    const works = [client.query('SELECT pg_sleep(60)'), client.query('SELECT 1')].map(faultOf);
    client.connection.stream.destroy();
    for (const work of works) expect(await work).toBeInstanceOf(ConnectionLostError);
    expect(await faultOf(client.query('SELECT 1'))).toBeInstanceOf(ConnectionLostError);
    expect((await heard)[0]).toBeInstanceOf(ConnectionLostError);
  });

  it('rejects the statement under way when its own process ends the connection', async () => {
    const client = await connected();
    const work = faultOf(client.query('SELECT pg_sleep(60)'));
    await client.end();
    expect(await work).toBeInstanceOf(ConnectionLostError);
  });

  it('rejects a statement of the pool, and a COPY, when the socket closes', async () => {
    const pool = openPool({ connectionString, max: 1 }, logger);
    closing.push(() => pool.end());
    pool.once('acquire', (client) => setImmediate(() => 'connection' in client && destroy(client.connection)));
    expect(await faultOf(pool.query('SELECT pg_sleep(60)'))).toBeInstanceOf(ConnectionLostError);

    const client = await pool.connect();
    const endless = (function* () {
      for (let n = 0; ; n++) {
        if (n === 100_000 && 'connection' in client) destroy(client.connection);
        yield [1];
      }
    })();
    const fault = await faultOf(copyRows(client, 'numbers', ['n'], endless));
    client.release(true);
    expect(postgresTrouble(fault)?.code).toBe('postgres_unreachable');
  });

  it('rejects connect() when the server closes the connection before it has answered', async () => {
    const url = await peer((socket) => socket.once('data', () => socket.end()));
    const client = createClient({ connectionString: url }, NO_LIMITS);
    expect(await faultOf(client.connect())).toBeInstanceOf(ConnectionLostError);
  });
});

describe('ConnectTimeoutError', () => {
  it('rejects connect() to a server that is silent', async () => {
    const url = await peer(() => undefined);
    const client = createClient({ connectionString: url }, { ...NO_LIMITS, connectMs: 50 });
    expect(await faultOf(client.connect())).toBeInstanceOf(ConnectTimeoutError);
  });

  it('rejects callers that wait for a connection of the pool, which still serves later callers', async () => {
    const pool = createPool({ connectionString, max: 1 }, { ...NO_LIMITS, connectMs: 2_000 });
    closing.push(() => pool.end());
    const held = await pool.connect();
    const faults = await Promise.all([faultOf(pool.connect()), faultOf(pool.query('SELECT 1'))]);
    for (const fault of faults) expect(fault).toBeInstanceOf(ConnectTimeoutError);
    held.release();
    expect((await pool.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
  });
});

describe('QueryTimeoutError', () => {
  it('rejects a statement after the limit of the pool or its own limit', async () => {
    const pool = createPool({ connectionString }, { ...NO_LIMITS, statementMs: 50 });
    closing.push(() => pool.end());
    expect(await faultOf(pool.query('SELECT pg_sleep(60)'))).toBeInstanceOf(QueryTimeoutError);
    const unlimited = createPool({ connectionString }, NO_LIMITS);
    closing.push(() => unlimited.end());
    const own = { text: 'SELECT pg_sleep(60)', query_timeout: 50 };
    expect(await faultOf(unlimited.query(own))).toBeInstanceOf(QueryTimeoutError);
  });
});

it('passes errors of the server and mistakes of the caller on unchanged', async () => {
  const client = await connected();
  expect(await faultOf(client.query('SELEC'))).toMatchObject({ code: '42601' });
  const wrong = await faultOf(client.query({ text: 'SELECT $1::text', values: [{ toPostgres: () => fail() }] }));
  expect(wrong).toMatchObject({ name: 'TypeError' });
  expect(postgresTrouble(wrong)).toBeNull();
  expect((await client.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);

  function fail(): never {
    throw new TypeError('not a value');
  }
});

function destroy(connection: unknown): void {
  (connection as { stream: Socket }).stream.destroy();
}
