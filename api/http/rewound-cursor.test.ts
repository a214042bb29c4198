/** Law: a client that walks to newer blocks by cursor, and continues as the errors say, gets every block once despite any rewinds. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readRow } from '../../infra/postgres/read-rows.ts';
import type { RowReader } from '../../infra/row-reader.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { ApiError } from './api-error.ts';
import { type Cursor, decodeCursor } from './cursor.ts';
import { refuseRewound } from './rewound-cursor.ts';

const RUNS = 25;
const CHAIN = 'one';
const LIST = 'blocks';
const source = { key: [{ column: 'height', kind: 'integer', order: 'ASC' }], pinned: null } as const;

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores?.close());

const query = (sql: string, values: readonly unknown[] = []) => stores.postgres.pool.query(sql, [...values]);

/** Hash of each block of the current chain. */
let chain: string[] = [];
let made = 0;
let position = 0;

async function append(count: number): Promise<void> {
  for (let added = 0; added < count; added++) {
    const hash = (made++).toString(16).padStart(64, '0');
    await query(
      `INSERT INTO blocks (chain, height, hash, time, clock, size, tx_count, validation_type, difficulty, bits, nonce, version,
         merkle_root, chain_work, chain_stake, reward, fees, position)
       VALUES ($1, $2, decode($3, 'hex'), 0, 0, 0, 0, 'work', '1', '', '', 1, '', '', '', 0, 0, $4)`,
      [CHAIN, chain.length, hash, position++],
    );
    chain.push(hash);
  }
}

async function rewind(depth: number): Promise<void> {
  const height = Math.max(0, chain.length - 1 - depth);
  const values = [CHAIN, height, position++];
  await query(`INSERT INTO reorgs SELECT $1, $3, $2::int, hash, $4 FROM blocks WHERE chain = $1 AND height = $2::int`, [
    ...values,
    chain.length - 1,
  ]);
  await query('INSERT INTO removed_blocks SELECT *, $3, NULL FROM blocks WHERE chain = $1 AND height > $2', values);
  await query('DELETE FROM blocks WHERE chain = $1 AND height > $2', values.slice(0, 2));
  chain = chain.slice(0, height + 1);
}

function read(): Snapshot {
  return {
    state: { derived: new Map([[CHAIN, { height: chain.length - 1 }]]) },
    row: <T>(reader: RowReader<T>, sql: string, values: readonly unknown[] = []) =>
      readRow(stores.postgres.pool, reader, sql, [...values]),
  } as unknown as Snapshot;
}

/** A client that walks two blocks at a time. */
function createWalker() {
  let cursor: Cursor | null = null;
  const held: string[] = [];
  return {
    held,
    async step(): Promise<void> {
      const refused = cursor && (await refuseRewound(read(), cursor, source as never).catch((error: unknown) => error));
      if (refused) {
        if (!(refused instanceof ApiError)) throw refused;
        const { height, nextCursor } = refused.details.members as { height: number; nextCursor: string };
        held.splice(height + 1);
        cursor = decodeCursor(nextCursor, LIST, CHAIN, ['integer']);
      }
      held.push(...chain.slice(held.length, held.length + 2));
      const height = held.length - 1;
      const hash = held[height] ?? '';
      cursor = { list: LIST, chain: CHAIN, isBack: false, key: [height], height, hash };
    },
  };
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rewind' as const), count: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('walk' as const), count: fc.integer({ min: 1, max: 5 }) }) },
);

it(`${RUNS} histories`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12, size: 'max' }), async (steps) => {
      await query('TRUNCATE blocks, removed_blocks, reorgs');
      chain = [];
      await append(8);
      const walker = createWalker();
      for (let walked = 0; walked < 4; walked++) await walker.step();
      for (const { kind, count } of steps) {
        if (kind === 'append') await append(count);
        else if (kind === 'rewind') await rewind(count);
        else for (let walked = 0; walked < count; walked++) await walker.step();
      }
      for (let walked = 0; walked <= chain.length; walked++) await walker.step();
      expect(walker.held).toEqual(chain);
    }),
    { numRuns: RUNS },
  );
});
