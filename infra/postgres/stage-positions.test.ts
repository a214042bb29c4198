import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import {
  countWrite,
  forgetStagePosition,
  forgetStagePositions,
  moveStagePosition,
  passRecord,
  positionsOf,
  readStagePosition,
  readStagePositions,
  StageFenced,
  type StagePosition,
  saveStagePositions,
} from './stage-positions.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
beforeEach(() => stores.postgres.pool.query('TRUNCATE stage_positions'));
afterAll(() => stores.close());

const at = (position: number): StagePosition => ({ position, height: position, hash: 'ab'.repeat(32), clock: 1000 });

it('moves a position from its current value, and refuses an owner that expects another value', async () => {
  const { pool } = stores.postgres;
  await moveStagePosition(pool, 'derive', 'one', null, at(1));
  await moveStagePosition(pool, 'derive', 'one', at(1), at(2));
  expect(await readStagePosition(pool, 'derive', 'one')).toEqual(at(2));
  await expect(moveStagePosition(pool, 'derive', 'one', at(1), at(3))).rejects.toThrow(StageFenced);
  await expect(moveStagePosition(pool, 'derive', 'one', null, at(3))).rejects.toThrow(StageFenced);
  await expect(forgetStagePosition(pool, 'derive', 'one', at(1))).rejects.toThrow(StageFenced);
  await forgetStagePosition(pool, 'derive', 'one', at(2));
  expect(await readStagePosition(pool, 'derive', 'one')).toBeNull();
});

it('saves and forgets positions of several stages and chains independently', async () => {
  const { pool } = stores.postgres;
  await saveStagePositions(pool, []);
  await saveStagePositions(pool, [
    { stage: 'price', chain: 'one', ...at(1) },
    { stage: 'price', chain: 'two', ...at(2), hash: '' },
    { stage: 'price_ahead', chain: 'one', ...at(3) },
  ]);
  await saveStagePositions(pool, [{ stage: 'price', chain: 'one', ...at(4), clock: 2000 }]);
  const price = new Map([
    ['one', { ...at(4), clock: 2000 }],
    ['two', { ...at(2), hash: '' }],
  ]);
  expect(await readStagePositions(pool, 'price')).toEqual(price);
  await forgetStagePositions(pool, 'price', ['one']);
  expect([...(await readStagePositions(pool, 'price')).keys()]).toEqual(['two']);
  await forgetStagePositions(pool, 'price_ahead');
  expect((await readStagePositions(pool, 'price_ahead')).size).toBe(0);
  expect([...(await readStagePositions(pool, 'price')).keys()]).toEqual(['two']);
});

it('passes a record only if the stage is exactly at its height and before it', async () => {
  const { pool } = stores.postgres;
  await saveStagePositions(pool, [{ stage: 'price', chain: 'one', ...at(5) }]);
  await passRecord(pool, 'price', 'one', 4, 9);
  await passRecord(pool, 'price', 'one', 5, 3);
  expect(await readStagePosition(pool, 'price', 'one')).toEqual(at(5));
  await passRecord(pool, 'price', 'one', 5, 9);
  expect(await readStagePosition(pool, 'price', 'one')).toEqual({ ...at(5), position: 9 });
});

it('counts writes from 0 on', async () => {
  const { pool } = stores.postgres;
  for (const position of [0, 1, 2]) {
    await countWrite(pool, 'price_guard', '*');
    expect(await readStagePosition(pool, 'price_guard', '*')).toMatchObject({ position });
  }
});

it('selects the rows of some stages at the cost of the bare table', async () => {
  const { pool } = stores.postgres;
  const plan = async (from: string, where: string): Promise<string[]> => {
    const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (COSTS OFF) SELECT p.height FROM blocks b LEFT JOIN ${from} p ON p.chain = b.chain AND ${where}`,
    );
    return rows.map((row) =>
      row['QUERY PLAN'].replaceAll('stage_positions.', 'p.').replace('stage_positions p', 'stage_positions'),
    );
  };
  expect(await plan(positionsOf('price'), 'true')).toEqual(await plan('stage_positions', `p.stage = 'price'`));
});
