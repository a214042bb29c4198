/** Reads that share a statement get the same rows as separate reads. */
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { SEED } from '../../test/setup/seed.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { createGatheredReads, type GatheredReads } from './gathered-reads.ts';
import { openReader, type PostgresReader, type Statement } from './reader.ts';

let stores: TestStores;
let opened: PostgresReader;
let gathered: GatheredReads<void>;
/** Statements sent to Postgres. */
let sent: Statement[] = [];

const GUARD = (sql: string, count: number) => `SELECT * FROM (${sql}) AS found WHERE 'now'::text = $${count + 1}`;
const NOW = 'now';

beforeAll(async () => {
  stores = await createTestStores();
  const { pool } = stores.postgres;
  await pool.query('CREATE TABLE letters (letter text, at integer, hash bytea, big bigint, PRIMARY KEY (letter, at))');
  await pool.query(`INSERT INTO letters SELECT letter, at, decode(md5(letter || at), 'hex'), at * 10000000000
    FROM unnest(ARRAY['a', 'b', 'c"\\', '', 'NULL', 'é,}']) AS letter, generate_series(0, 9) AS at`);
  opened = openReader(stores.postgres, { maxConnections: 4, statementMs: 60_000 });
  const reader: Pick<PostgresReader, 'query' | 'parameterTypes'> = {
    ...opened,
    query: (statement, values) => {
      sent.push(statement);
      return opened.query(statement, values);
    },
  };
  gathered = createGatheredReads<void>(reader, GUARD);
});

beforeEach(() => {
  sent = [];
});

afterAll(async () => {
  await opened.close();
  await stores.close();
});

const letter = fc.constantFrom('a', 'b', 'c"\\', '', 'NULL', 'é,}', 'z');
const at = fc.integer({ min: -1, max: 10 });
const STATEMENTS = [
  { sql: 'SELECT * FROM letters WHERE letter = $1 AND at = $2', values: fc.tuple(letter, at) },
  {
    sql: 'SELECT at, letter FROM letters WHERE letter = $1 ORDER BY at DESC LIMIT $2 OFFSET $3',
    values: fc.tuple(letter, fc.nat(4), fc.nat(9)),
  },
  { sql: 'SELECT * FROM letters WHERE letter = ANY($1) ORDER BY hash', values: fc.tuple(fc.array(letter)) },
  {
    sql: 'SELECT count(*), max(big) AS max, json_agg(big) AS all FROM letters WHERE at < $2 AND letter <> $1',
    values: fc.tuple(letter, at),
  },
  {
    sql: 'SELECT letter, at FROM letters WHERE hash = $1 OR $2::text IS NULL ORDER BY hash',
    values: fc.tuple(fc.constantFrom('\\x00', '\\xab'), fc.option(letter)),
  },
  {
    sql: 'SELECT a.at, b.at FROM letters a JOIN letters b USING (letter) WHERE letter = $1 AND a.at = $2 AND b.at = $3',
    values: fc.tuple(letter, at, at),
  },
  {
    sql: 'SELECT at FROM letters WHERE letter = $11 AND at IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ORDER BY at',
    values: fc.tuple(at, at, at, at, at, at, at, at, at, at, letter),
  },
  { sql: 'SELECT count(*) FROM letters', values: fc.constant([]) },
] as const;

const read = fc.nat({ max: STATEMENTS.length - 1 }).chain((index) =>
  fc.record({
    sql: fc.constant(STATEMENTS[index]?.sql ?? ''),
    values: (STATEMENTS[index]?.values ?? fc.constant([])) as fc.Arbitrary<readonly unknown[]>,
    version: fc.constantFrom(NOW, NOW, NOW, 'before'),
  }),
);

it('each read gets the rows that it gets alone, in their order, and none if its version differs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(read, { minLength: 1, maxLength: 90 }), async (reads) => {
      const found = await Promise.all(reads.map(({ sql, values, version }) => gathered(sql, values, version)));
      for (const [index, { sql, values, version }] of reads.entries()) {
        const alone = await opened.query({ name: undefined, text: GUARD(sql, values.length) }, [...values, version]);
        expect(found[index]).toEqual(alone);
      }
    }),
    { seed: SEED, numRuns: 40 },
  );
});

it('bounds the rows of one statement when reads return many rows, whatever other reads are mixed in', async () => {
  const SERIES = 'SELECT n FROM generate_series(1, $1::integer) AS n WHERE $2::text IS NOT NULL';
  const sizes = fc.array(fc.constantFrom(1, 25, 200, 201, 600), { minLength: 1, maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(sizes, async (asked) => {
      const results: number[] = [];
      const counting: Pick<PostgresReader, 'query' | 'parameterTypes'> = {
        ...opened,
        async query(...given) {
          const rows = await opened.query(...given);
          results.push(rows.length);
          return rows;
        },
      };
      const read = createGatheredReads<void>(counting, GUARD);
      await read(SERIES, [600, 'the largest first'], NOW);
      const found = await Promise.all(asked.map((size, index) => read(SERIES, [size, String(index)], NOW)));
      expect(found.map(({ length }) => length)).toEqual(asked);
      expect(Math.max(...results)).toBeLessThanOrEqual(2 * 600);
    }),
    { seed: SEED, numRuns: 20 },
  );
});

const ONE = 'SELECT letter, at FROM letters WHERE letter = $1 AND at = $2';

it('a single read does not wait; simultaneous reads share a statement', async () => {
  await Promise.all(Array.from({ length: 40 }, (_, index) => gathered(ONE, ['a', index % 10], NOW)));
  expect(sent.length).toBeLessThan(6);
  sent = [];
  await gathered(ONE, ['a', 1], NOW);
  expect(sent.map(({ text }) => text)).toEqual([GUARD(ONE, 2)]);
});

it('a value that the server refuses fails only the read that sent it', async () => {
  const reads = Array.from({ length: 20 }, (_, index) => gathered(ONE, ['a', index === 7 ? 2 ** 31 : index % 10], NOW));
  for (const [index, result] of (await Promise.allSettled(reads)).entries()) {
    if (index === 7) expect(result).toMatchObject({ status: 'rejected', reason: { code: '22003' } });
    else expect(result).toEqual({ status: 'fulfilled', value: [{ letter: 'a', at: index % 10 }] });
  }
});

const SLOW = 'SELECT $1::float8 AS slept FROM (SELECT pg_sleep($1::float8)) AS sleep';

it('a read that takes too long fails alone and does not delay later reads', async () => {
  const hasty = openReader(stores.postgres, {
    maxConnections: 4,
    statementMs: 2000,
  });
  const read = createGatheredReads<void>(hasty, GUARD);
  const asked = [0.1, 0.1, 30, 0.1].map((seconds) => read(SLOW, [seconds], NOW));
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(outcomes[2]).toMatchObject({ reason: { code: '57014' } });
  const ends: string[] = [];
  const slow = [0, 1].map(() => read(SLOW, [1.5], NOW).then(() => ends.push('slow')));
  await new Promise((resolve) => setTimeout(resolve, 50));
  await read(SLOW, [0], NOW).then(() => ends.push('fast'));
  await Promise.all(slow);
  expect(ends).toEqual(['fast', 'slow', 'slow']);
  await hasty.close();
});

it('every read fails when the server cannot be reached', async () => {
  const gone = openReader(stores.postgres, { maxConnections: 1, statementMs: 500 });
  await gone.close();
  const read = createGatheredReads<void>(gone, GUARD);
  const reads = Array.from({ length: 5 }, (_, index) => read(ONE, ['a', index], NOW));
  for (const result of await Promise.allSettled(reads)) {
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'postgres_unreachable' } });
  }
});
