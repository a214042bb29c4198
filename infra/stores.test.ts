import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClickHouseFacade, startClickHouseFacade } from '../test/support/infra/clickhouse/start-facade.ts';
import { createTestStores, type TestStores } from '../test/support/infra/test-stores.ts';
import type { ClickHouse } from './clickhouse/clickhouse.ts';
import { migrateClickHouse } from './clickhouse/migrate.ts';
import { connectClickHouse } from './clickhouse/server.ts';
import { readMigrations } from './migrations.ts';
import { copyRows } from './postgres/copy.ts';
import { connectPostgres, type Postgres } from './postgres/postgres.ts';
import { leftScratchNames } from './postgres/scratch-names.ts';
import { openScratchStores, type Stores } from './stores.ts';

const logger = pino({ level: 'silent' });
let stores: TestStores;
let facade: ClickHouseFacade;
let byUrl: ClickHouse;
const folder = mkdtempSync(join(tmpdir(), 'verustream-facade-'));

beforeAll(async () => {
  stores = await createTestStores();
  facade = await startClickHouseFacade(folder);
  byUrl = await connectClickHouse(facade.url, logger);
  await migrateClickHouse(byUrl);
});
afterAll(async () => {
  await byUrl.close();
  await facade.stop();
  await stores.close();
  rmSync(folder, { recursive: true, force: true });
});

const TEN_BILLION_COINS = 1_000_000_000_000_000_001n;
const ROW = ['vrsc', 'R"1\\\t\'', 'i\n', 7, 1, 1_700_000_000, 'ab'.repeat(32), TEN_BILLION_COINS, 0, 5] as const;
const COLUMNS = [
  'chain',
  'address',
  'currency_id',
  'height',
  'tx_index',
  'time',
  'txid',
  'received',
  'sent',
  'position',
];

describe.each([
  ['embedded', () => stores.clickhouse],
  ['by URL (facade over the embedded engine)', () => byUrl],
])('ClickHouse %s', (_, clickhouse) => {
  it('keeps 10^18 satoshis and special characters', async () => {
    await clickhouse().insert('address_deltas', COLUMNS, [ROW]);
    const rows = await clickhouse().query('SELECT * FROM address_deltas WHERE height = {height:UInt32}', { height: 7 });
    expect(rows).toEqual([
      expect.objectContaining({
        address: ROW[1],
        currency_id: 'i\n',
        received: String(TEN_BILLION_COINS),
        position: '5',
      }),
    ]);
  });

  it('a delete is complete when it returns, and can be repeated', async () => {
    for (let i = 0; i < 2; i++) {
      await clickhouse().command('DELETE FROM address_deltas WHERE position > {position:UInt64}', { position: 4 });
      expect(await clickhouse().query('SELECT * FROM address_deltas')).toEqual([]);
    }
  });

  it('migrations are applied once', async () => {
    await migrateClickHouse(clickhouse());
    const [row] = await clickhouse().query('SELECT count() AS n FROM migrations');
    expect(Number(row?.n)).toBe((await readMigrations('clickhouse')).length);
  });

  it('reports what is wrong with a statement', async () => {
    await expect(clickhouse().query('SELECT nope')).rejects.toThrow(/nope/);
  });
});

it('distinguishes a ClickHouse that is unreachable from one that refuses', async () => {
  await expect(connectClickHouse('http://127.0.0.1:9', logger)).rejects.toMatchObject({
    code: 'clickhouse_unreachable',
  });
  const wrong = facade.url.replace('password', 'guess');
  await expect(connectClickHouse(wrong, logger)).rejects.toMatchObject({ code: 'clickhouse_refused' });
});

it('distinguishes a Postgres that is unreachable from one that refuses', async () => {
  const missing = stores.databaseUrl.replace(/\w+$/, 'no_such_database');
  await expect(connectPostgres({ url: missing, logger })).rejects.toMatchObject({ code: 'postgres_refused' });
  const unreachable = connectPostgres({ url: 'postgres://127.0.0.1:9/x', logger });
  await expect(unreachable).rejects.toMatchObject({ code: 'postgres_unreachable' });
});

it('Postgres keeps every kind of value that COPY writes', async () => {
  const text = 'tab\t line\n back\\slash "quote" café ☕';
  await stores.postgres.transaction((client) =>
    copyRows(
      client,
      'outputs',
      ['chain', 'txid', 'n', 'from_height', 'tx_index', 'value', 'currencies', 'kind', 'addresses', 'data', 'position'],
      [
        [
          'vrsc',
          { hex: 'ab'.repeat(32) },
          0,
          1,
          0,
          TEN_BILLION_COINS,
          null,
          text,
          ['a,b', 'c"d\\e', text],
          { json: '{"a":1.50000000}' },
          1,
        ],
      ],
    ),
  );
  const { rows } = await stores.postgres.pool.query('SELECT * FROM outputs');
  expect(rows).toEqual([
    expect.objectContaining({
      txid: 'ab'.repeat(32),
      value: TEN_BILLION_COINS,
      currencies: null,
      kind: text,
      addresses: ['a,b', 'c"d\\e', text],
      data: '{"a":1.50000000}',
    }),
  ]);
});

it('a failed transaction leaves nothing', async () => {
  const work = stores.postgres.transaction(async (client) => {
    await client.query("INSERT INTO rewards VALUES ('vrsc','a',1,'\\x00',0,'mining',1,1)");
    throw new Error('no');
  });
  await expect(work).rejects.toThrow('no');
  expect((await stores.postgres.pool.query('SELECT * FROM rewards')).rows).toEqual([]);
});

async function databaseNames(): Promise<string[]> {
  const { rows } = await stores.postgres.pool.query<{ datname: string }>('SELECT datname FROM pg_database');
  const databases = await stores.clickhouse.query('SELECT name FROM system.databases');
  return [...rows.map(({ datname }) => datname), ...databases.map(({ name }) => name)].map(String).sort();
}

it('scratch stores are empty, and dropped when closed', async () => {
  const before = await databaseNames();
  await stores.postgres.pool.query("INSERT INTO rewards VALUES ('vrsc','a',1,'\\x00',0,'mining',1,1)");
  const fresh = await stores.openScratch();
  expect((await fresh.postgres.pool.query('SELECT * FROM rewards')).rows).toEqual([]);
  expect(await fresh.clickhouse.query('SELECT * FROM stakes')).toEqual([]);
  await fresh.close();
  expect(await databaseNames()).toEqual(before);
});

it('scratch stores leave nothing behind when one of them cannot be opened', async () => {
  const before = await databaseNames();
  const opened: Postgres[] = [];
  async function connect(database: string): Promise<Postgres> {
    const url = new URL(stores.databaseUrl);
    url.pathname = database;
    const postgres = await connectPostgres({ url: url.href, logger });
    opened.push(postgres);
    return postgres;
  }
  const fail = () => Promise.reject(new Error('it cannot be opened'));
  for (const connectPostgresOrFail of [fail, connect]) {
    const servers = { connectPostgres: connectPostgresOrFail, openClickHouse: fail };
    await expect(openScratchStores(stores, servers, logger)).rejects.toThrow('it cannot be opened');
  }
  expect(opened.map(({ pool }) => pool.ended)).toEqual([true]);
  expect(await databaseNames()).toEqual(before);
});

const CONNECTED = 'SELECT pid FROM pg_stat_activity WHERE datname = $1';
const HOLDING = `SELECT pid FROM pg_locks
  WHERE locktype = 'advisory' AND (classid::bigint << 32 | objid::bigint) = hashtextextended($1, 0)`;

/** Returns the number of ended sessions. */
async function endSessions(database: string, which: string): Promise<number | null> {
  const { pool } = stores.postgres;
  return (await pool.query(`SELECT pg_terminate_backend(pid, 60000) FROM (${which}) sessions`, [database])).rowCount;
}

async function nameOf({ postgres }: Pick<Stores, 'postgres'>): Promise<string> {
  const { rows } = await postgres.pool.query<{ name: string }>('SELECT current_database() AS name');
  return String(rows[0]?.name);
}

it('the next process of an installation drops databases that a killed process left, but not those in use', async () => {
  const before = await databaseNames();
  const killed = await stores.openScratch();
  const running = await stores.openScratch();
  const [left, used] = [await nameOf(killed), await nameOf(running)];
  for (const which of [CONNECTED, HOLDING]) expect(await endSessions(left, which)).toBeGreaterThan(0);
  expect(await endSessions(used, CONNECTED)).toBeGreaterThan(0); // its lock remains
  expect(await leftScratchNames(stores.postgres.pool)).toEqual([left]);
  const leftOrUsed = async () => (await databaseNames()).filter((name) => name === left || name === used);
  // Another installation on the same servers: perhaps with another ClickHouse, where it would not find the second database.
  const other = await createTestStores();
  expect(await leftScratchNames(other.postgres.pool)).toEqual([]);
  await (await other.openScratch()).close();
  await other.close();
  expect((await leftOrUsed()).sort()).toEqual([left, left, used, used].sort());
  await (await stores.openScratch()).close();
  expect(await leftOrUsed()).toEqual([used, used]);
  expect(await running.clickhouse.query('SELECT * FROM stakes')).toEqual([]);
  await running.close();
  expect(await databaseNames()).toEqual(before);
  await expect(killed.postgres.pool.query('SELECT 1')).rejects.toMatchObject({ code: '3D000' });
  await expect(killed.clickhouse.query('SELECT * FROM stakes')).rejects.toThrow(/does not exist/);
  await killed.close();
});

it('databases whose lock is lost stay while a client is connected', async () => {
  const running = await stores.openScratch();
  const client = await running.postgres.pool.connect();
  const name = await nameOf(running);
  expect(await endSessions(name, HOLDING)).toBe(1);
  await (await stores.openScratch()).close();
  expect((await databaseNames()).filter((one) => one === name)).toEqual([name, name]);
  client.release();
  await running.close();
});

it('a ClickHouse database that could not be dropped is found again by its Postgres database', async () => {
  const before = await databaseNames();
  const clickhouse: ClickHouse = {
    ...stores.clickhouse,
    command: (sql, ...rest) =>
      sql.startsWith('DROP') ? Promise.reject(new Error('away')) : stores.clickhouse.command(sql, ...rest),
  };
  const fail = () => Promise.reject(new Error('it cannot be opened'));
  const servers = { connectPostgres: fail, openClickHouse: fail };
  const opening = openScratchStores({ postgres: stores.postgres, clickhouse }, servers, logger);
  await expect(opening).rejects.toThrow(/^it cannot be opened$/);
  expect((await databaseNames()).length).toBe(before.length + 2);
  await (await stores.openScratch()).close();
  expect(await databaseNames()).toEqual(before);
});
