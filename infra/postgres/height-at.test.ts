/** The block that halving finds is the one that reading all of them finds. */
import fc from 'fast-check';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SEED } from '../../test/setup/seed.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { columns, rowReader } from '../row-reader.ts';
import { heightAt } from './height-at.ts';
import { readRows } from './read-rows.ts';

let stores: TestStores;
let client: PoolClient;

beforeAll(async () => {
  stores = await createTestStores();
  client = await stores.postgres.pool.connect();
  // For this connection it stands before the table of that name.
  await client.query(
    'CREATE TEMP TABLE blocks (chain text, height integer, clock bigint, PRIMARY KEY (chain, height))',
  );
});

afterAll(async () => {
  client.release(true);
  await stores.close();
});

const readFound = rowReader({ halved: columns.nullable(columns.number), read: columns.nullable(columns.number) });

it('at any moment, on chains of any length, with standing clocks and gaps, up to any height', async () => {
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
