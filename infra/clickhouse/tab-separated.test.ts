/** COPY of Postgres reads the TabSeparated output of ClickHouse as the same values. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestStores } from '../../test/support/infra/test-stores.ts';
import { copyText } from '../postgres/copy.ts';
import type { Stores } from '../stores.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await createTestStores();
  await stores.clickhouse.command(
    'CREATE TABLE printed (n UInt32, text Nullable(String), flag Bool, usd Nullable(Decimal(76, 38))) ENGINE = MergeTree ORDER BY n',
  );
});
afterAll(() => stores.close());

/** Without U+0000, which neither store of this program contains in a text. */
const text = fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0') && value.isWellFormed());
const special = fc.constantFrom(
  '\\N',
  '\\.',
  "it's",
  '\t',
  '\n',
  '\r',
  '\\',
  '\\\\x00',
  '',
  '\b\f\v',
  '{"a":"\\"\\n"}',
);
const rows = fc.array(
  fc.tuple(
    fc.option(fc.oneof(text, special)),
    fc.boolean(),
    fc.option(fc.constantFrom('0', '-1.5', '12.00000000000000000000000000000000000001')),
  ),
  { minLength: 1, maxLength: 50 },
);

it('passes texts of any characters, NULL, flags and decimals', async () => {
  const { clickhouse, postgres } = stores;
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      await clickhouse.command('TRUNCATE TABLE printed');
      const inserted = given.map(([value, flag, usd], n) => [n, value, flag, usd]);
      await clickhouse.insert('printed', ['n', 'text', 'flag', 'usd'], inserted);
      const printed = await clickhouse.tabSeparated('SELECT * FROM printed WHERE n >= {from:UInt32}', { from: 0 });
      const read = await postgres.transaction(async (client) => {
        await client.query(
          'CREATE TEMPORARY TABLE printed (n int, text text, flag boolean, usd numeric(76,38)) ON COMMIT DROP',
        );
        expect(await copyText(client, 'printed', ['n', 'text', 'flag', 'usd'], printed)).toBe(given.length);
        const sql = 'SELECT n, text, flag, trim_scale(usd)::text AS usd FROM printed ORDER BY n';
        return (await client.query(sql)).rows.map(({ n, text, flag, usd }) => [n, text, flag, usd]);
      });
      expect(read).toEqual(inserted);
    }),
    { numRuns: 20 },
  );
});

it('rejects with the error of ClickHouse for a statement that fails', async () => {
  const failing = stores.clickhouse.tabSeparated('SELECT throwIf(number = 99999) FROM numbers(100000)');
  await expect(failing).rejects.toThrow('throwIf');
});
