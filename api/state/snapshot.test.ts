/** Everything that a request reads belongs to the state that it names, whatever a writer does meanwhile. */

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { openReader, type PostgresReader } from '../../infra/postgres/reader.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { SERVICE } from '../access/priority-lanes.ts';
import { notFound } from '../http/api-error.ts';
import { createCurrentState } from './current-state.ts';
import { createSnapshots, type Snapshot, type WithSnapshot } from './snapshot.ts';
import { createStateWatch, type StateWatch } from './state-watch.ts';

const logger = pino({ level: 'silent' });
const CHAIN = 'one';
const SCOPE = { release: 'test', chains: new Set([CHAIN]) };
let stores: TestStores;
let reader: PostgresReader;
let watch: StateWatch;
let snapshot: WithSnapshot;
/** Number of statements outside of transactions. */
let asked = 0;

beforeAll(async () => {
  stores = await createTestStores();
  const opened = openReader(stores.postgres, { maxConnections: 6, statementMs: 10_000 });
  const counted =
    <A extends unknown[], R>(ask: (...args: A) => R) =>
    (...args: A): R => {
      asked++;
      return ask(...args);
    };
  reader = { ...opened, query: counted(opened.query) as typeof opened.query };
  await commit(0, 0);
  watch = await createStateWatch(stores.postgres, SCOPE, logger, new AbortController().signal);
  const currentState = createCurrentState(reader, watch);
  snapshot = createSnapshots({ reader, watch, currentState, scope: SCOPE, atOnce: 10 })(SERVICE);
});

afterAll(async () => {
  await watch.stop();
  await reader.close();
  await stores.close();
});

/** Replaces the blocks from `height` on with one block, like a rewind followed by a block of another branch. */
async function commit(position: number, height: number): Promise<void> {
  await stores.postgres.transaction(async (client) => {
    const hash = `\\x${position.toString(16).padStart(8, '0')}`;
    await client.query('DELETE FROM blocks WHERE chain = $1 AND height >= $2', [CHAIN, height]);
    await client.query(
      `INSERT INTO blocks (chain, height, hash, time, clock, size, tx_count, validation_type, difficulty, bits, nonce, version,
         merkle_root, chain_work, chain_stake, reward, fees, position)
       VALUES ($1, $2, $3, 0, 0, 0, 0, 'work', '1', '', '', 1, '', '', '', 0, 0, $4)`,
      [CHAIN, height, hash, position],
    );
    await client.query(
      `INSERT INTO stage_positions VALUES ('derive', $1, $2, $3, $4, 0) ON CONFLICT (stage, chain) DO UPDATE
       SET position = excluded.position, height = excluded.height, hash = excluded.hash`,
      [CHAIN, position, height, hash],
    );
  });
}

const COUNT = 'SELECT count(*) AS count, max(position) AS position FROM blocks WHERE chain = $1';
const AT = 'SELECT hash FROM blocks WHERE chain = $1 AND height = $2';

const readCount = rowReader({ count: columns.bigint, position: columns.nullable(columns.bigint) });
const readAt = rowReader({ hash: columns.text });

/** Reads like a handler: several statements, one of them without a row. */
async function look(read: Snapshot) {
  const { position, height, hash } = read.state.derived.get(CHAIN) ?? { position: -1, height: -1, hash: '' };
  const beyond = await read.row(readAt, AT, [CHAIN, height + 1]);
  const at = await read.row(readAt, AT, [CHAIN, height]);
  const counted = await read.row(readCount, COUNT, [CHAIN]);
  const stated = { position, height, hash, beyond: undefined };
  const found = { position: Number(counted?.position), height: Number(counted?.count) - 1, hash: at?.hash, beyond };
  return { stated, found };
}

let position = 0;
let height = 0;
beforeEach(() => {
  asked = 0;
});

it('rows and state belong together while a writer folds and rewinds', async () => {
  let isOver = false;
  let reads = 0;
  const seen = new Set<string>();
  const writer = (async () => {
    for (let step = 0; step < 120 || seen.size <= 10 || reads <= 20; step++) {
      height = step % 7 === 6 ? Math.max(0, height - (step % 4)) : height + 1;
      await commit(++position, height);
    }
    isOver = true;
  })();
  const readers = Array.from({ length: 5 }, async () => {
    while (!isOver) {
      const { stated, found } = await snapshot(look);
      expect(found).toEqual(stated);
      seen.add(stated.hash);
      reads++;
    }
  });
  await Promise.all([writer, ...readers]);
  expect(seen.size).toBeGreaterThan(10);
  expect(reads).toBeGreaterThan(20);
});

it('an answer after a commit belongs to that commit, even if the watch has not seen it', async () => {
  for (let round = 0; round < 20; round++) {
    await commit(++position, ++height);
    const { stated, found } = await snapshot(look);
    expect([stated.position, found.position]).toEqual([position, position]);
  }
});

it('an answer without a statement belongs to the newest commit too', async () => {
  await commit(++position, ++height);
  expect(await snapshot(async ({ state }) => state.derived.get(CHAIN)?.height)).toBe(height);
  const before = watch.state;
  await commit(++position, ++height);
  const refused: unknown[] = [];
  const refusing = snapshot(async ({ state }) => {
    refused.push(state.derived.get(CHAIN)?.height);
    throw notFound('it');
  });
  await expect(refusing).rejects.toMatchObject({ code: 'not_found' });
  expect(refused.at(-1)).toBe(height);
  expect(watch.state).not.toBe(before);
});

it('a statement with a row takes one query, one without a row two', async () => {
  await watch.beyond(watch.state);
  await snapshot((read) => read.row(readAt, AT, [CHAIN, 0]));
  expect(asked).toBe(1);
  await snapshot((read) => read.row(readAt, AT, [CHAIN, -1]));
  expect(asked).toBe(3);
});

it('a state that keeps moving is read in a transaction', async () => {
  let tries = 0;
  const { stated, found } = await snapshot(async (read) => {
    tries++;
    const first = await look(read);
    await commit(++position, ++height);
    const second = await look(read);
    expect(second).toEqual(first);
    return second;
  });
  expect(tries).toBe(3);
  expect(found).toEqual(stated);
});

it('the same values written again are another state', async () => {
  await watch.beyond(watch.state);
  const { version, tag } = watch.state;
  await commit(position, height);
  await watch.beyond(watch.state);
  expect(watch.state.tag).toBe(tag);
  expect(watch.state.version).not.toBe(version);
});

it('rows keep their order', async () => {
  const heights = await snapshot((read) =>
    read.rows(rowReader({ height: columns.number }), 'SELECT height FROM blocks WHERE chain = $1 ORDER BY hash DESC', [
      CHAIN,
    ]),
  );
  const { rows } = await stores.postgres.pool.query<{ height: number }>('SELECT height FROM blocks ORDER BY hash DESC');
  expect(heights).toEqual(rows);
});

it('a statement ends at its time limit, and a closed connection is reported as an error', async () => {
  const slow = openReader(stores.postgres, { maxConnections: 1, statementMs: 50 });
  const sleep = { name: undefined, text: 'SELECT pg_sleep(30)' };
  await expect(slow.query(sleep, [])).rejects.toMatchObject({ code: '57014' });
  await expect(slow.snapshot('SELECT 1', (_, query) => query(sleep, []))).rejects.toMatchObject({ code: '57014' });
  const ended = slow.query({ name: undefined, text: 'SELECT pg_terminate_backend(pg_backend_pid())' }, []);
  await expect(ended).rejects.toMatchObject({ code: expect.stringMatching(/^(57P01|postgres_unreachable)$/) });
  await expect(slow.query({ name: undefined, text: 'DELETE FROM blocks' }, [])).rejects.toMatchObject({
    code: '25006',
  });
  await slow.close();
});

it('a server that accepts connections but never answers counts as unreachable', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const connectionString = `postgres://127.0.0.1:${port}/none`;
  const openPool: Postgres['openPool'] = (config) => stores.postgres.openPool({ ...config, connectionString });
  const mute = openReader({ ...stores.postgres, openPool }, { maxConnections: 1, statementMs: 50 });
  const asked = [mute.query({ name: undefined, text: 'SELECT 1' }, []), mute.snapshot('SELECT 1', async () => null)];
  for (const { reason } of (await Promise.allSettled(asked)) as PromiseRejectedResult[]) {
    expect(reason).toMatchObject({ code: 'postgres_unreachable' });
  }
  await mute.close();
  silent.close();
});
