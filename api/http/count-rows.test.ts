/** Law: the incremental count equals that of one full scan, whatever blocks, rewinds and redrives happen between two counts. */

import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { StoredRow } from '../../infra/row-reader.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { createMemo } from '../state/memo.ts';
import type { ServiceState } from '../state/service-state.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { countRowsByHeight } from './count-rows.ts';

const RUNS = 25;
const CHAIN = 'one';
const ROWS = 'blocks WHERE chain = $1 AND tx_count > $2';

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores?.close());

const query = async <T>(sql: string, values: readonly unknown[] = []) =>
  (await stores.postgres.pool.query(sql, [...values])).rows as T[];

let height = -1;
let position = 0;
let redrives = 0;
let scans: unknown[][] = [];
beforeEach(() => clear());

async function clear(): Promise<void> {
  await query('DELETE FROM blocks');
  height = -1;
  redrives = 0;
}

/** The hash of each block contains the position at which it was added, so that a replaced block has another hash. */
async function append(blocks: number): Promise<void> {
  position += 100_000;
  await query(
    `INSERT INTO blocks (chain, height, hash, time, clock, size, tx_count, validation_type, difficulty, bits, nonce, version,
       merkle_root, chain_work, chain_stake, reward, fees, position)
     SELECT $1, n, decode(lpad(to_hex($4 + n), 8, '0'), 'hex'), 0, 0, 0, ($4 + n) * 7 % 5, 'work', '1', '', '', 1, '', '', '', 0,
       0, $4 + n FROM generate_series($2::integer, $3::integer) AS n`,
    [CHAIN, height + 1, height + blocks, position],
  );
  height += blocks;
}

async function rewind(blocks: number): Promise<void> {
  height = Math.max(0, height - blocks);
  await query('DELETE FROM blocks WHERE height > $1', [height]);
}

async function redrive(): Promise<void> {
  await query('UPDATE blocks SET tx_count = (tx_count + 1) % 5');
  redrives++;
}

/** The snapshot of a request that begins now. */
function snapshot(): Snapshot {
  const rows: Snapshot['rows'] = async (reader, sql, values = []) => {
    if (sql.startsWith('SELECT count')) scans.push([/ height (<=|>) /.exec(sql)?.[1], values.at(-1)]);
    return (await query<StoredRow>(sql, values)).map(reader);
  };
  const tag = `${position} ${height} ${redrives}`;
  const derived = new Map([[CHAIN, { position, height, hash: '', clock: 0 }]]);
  const state = { derived, redrives, tag, factsTag: () => tag } as Partial<ServiceState> as ServiceState;
  return { state, rows, row: async (...asked) => (await rows(...asked))[0] };
}

async function scanned(least: number): Promise<number> {
  const [row] = await query<{ count: bigint }>(`SELECT count(*) FROM ${ROWS}`, [CHAIN, least]);
  return Number(row?.count);
}

const count = (api: Parameters<typeof countRowsByHeight>[1], least: number) =>
  countRowsByHeight(snapshot(), api, CHAIN, 'height', { rows: ROWS, values: [CHAIN, least] });

const step = fc.record({
  act: fc.constantFrom('append', 'append', 'rewind', 'redrive', 'nothing'),
  blocks: fc.constantFrom(1, 2, 9, 400, 999, 1000, 1001),
  least: fc.constantFrom(0, 2),
});

it('counts as one scan does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
      await clear();
      await append(995);
      const api = { memo: createMemo(1e6) };
      for (const { act, blocks, least } of steps) {
        if (act === 'append') await append(blocks);
        if (act === 'rewind') await rewind(blocks);
        if (act === 'redrive') await redrive();
        expect(await count(api, least)).toBe(await scanned(least));
      }
    }),
    { numRuns: RUNS },
  );
});

it('does not count settled rows again', async () => {
  const api = { memo: createMemo(1e6) };
  await append(1500);
  await count(api, 0);
  scans = [];
  await count(api, 0);
  expect(scans).toEqual([]);
  await append(1);
  await count(api, 0);
  expect(scans).toEqual([['>', 1000]]);
});
