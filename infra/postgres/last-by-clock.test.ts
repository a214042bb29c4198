/** Binary search finds the same block, or tick, as a scan of all of them. */
import fc from 'fast-check';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SEED } from '../../test/setup/seed.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { columns, rowReader } from '../row-reader.ts';
import { heightAt, tickAt } from './last-by-clock.ts';
import { readRows } from './read-rows.ts';

let stores: TestStores;
let client: PoolClient;

beforeAll(async () => {
  stores = await createTestStores();
  client = await stores.postgres.pool.connect();
  // On this connection they hide the tables with these names.
  await client.query('CREATE TEMP TABLE price_ticks (tick bigint PRIMARY KEY, clock bigint)');
  await client.query(
    'CREATE TEMP TABLE blocks (chain text, height integer, clock bigint, PRIMARY KEY (chain, height))',
  );
});

afterAll(async () => {
  client.release(true);
  await stores.close();
});

const readTicks = rowReader({ halved: columns.nullable(columns.bigint), read: columns.nullable(columns.bigint) });
const readFound = rowReader({ halved: columns.nullable(columns.number), read: columns.nullable(columns.number) });

it('finds a block at any moment, on chains of any length, with repeated clocks and gaps, up to any height', async () => {
  const chain = fc.record({
    first: fc.constantFrom(0, 7),
    steps: fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5 }), fc.constant(1000)), { maxLength: 40 }),
    left: fc.nat({ max: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(chain, async ({ first, steps, left }) => {
      let clock = 100;
      const clocks = steps.map((step) => (clock += step));
      const newest = first + clocks.length - 1 - left;
      await client.query('TRUNCATE blocks');
      await client.query(
        `INSERT INTO blocks SELECT chain, $1 + number - 1, clock FROM unnest($2::bigint[]) WITH ORDINALITY AS made(clock, number),
           unnest(ARRAY['one', 'other']) AS chain WHERE chain = 'one' OR number < 3`,
        [first, clocks],
      );
      const moments = [...new Set([99, ...clocks.flatMap((at) => [at - 1, at, at + 1])])];
      const found = await readRows(
        client,
        readFound,
        `SELECT ${heightAt(`'one'`, 'moment', '$2')} AS halved, (SELECT max(height) FROM blocks
           WHERE chain = 'one' AND height <= $2 AND clock <= moment) AS read FROM unnest($1::bigint[]) AS moment`,
        [moments, newest],
      );
      expect(found).toHaveLength(moments.length);
      for (const { halved, read } of found) expect(halved).toBe(read);
    }),
    { seed: SEED, numRuns: 200 },
  );
});

it('finds a tick at any moment, whatever numbers are missing', async () => {
  const gap = fc.constantFrom(1, 1, 2, 50);
  const step = fc.constantFrom(0, 1, 3, 1000);
  const ticks = fc.record({ first: fc.constantFrom(0, 9), steps: fc.array(fc.tuple(gap, step), { maxLength: 40 }) });
  await fc.assert(
    fc.asyncProperty(ticks, async ({ first, steps }) => {
      let [tick, clock] = [first, 100];
      const made = steps.map(([more, later]) => {
        tick += more;
        clock += later;
        return [tick, clock] as const;
      });
      await client.query('TRUNCATE price_ticks');
      await client.query('INSERT INTO price_ticks SELECT * FROM unnest($1::bigint[], $2::bigint[])', [
        made.map(([at]) => at),
        made.map(([, at]) => at),
      ]);
      const moments = [...new Set([99, ...made.flatMap(([, at]) => [at - 1, at, at + 1])])];
      const found = await readRows(
        client,
        readTicks,
        `SELECT ${tickAt('moment')} AS halved, (SELECT max(tick) FROM price_ticks WHERE clock <= moment) AS read
         FROM unnest($1::bigint[]) AS moment`,
        [moments],
      );
      expect(found).toHaveLength(moments.length);
      for (const { halved, read } of found) expect(halved).toBe(read);
    }),
    { seed: SEED, numRuns: 200 },
  );
});
