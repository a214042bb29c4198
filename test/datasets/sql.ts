/** Compares answers of `verustream sql` with the stores and the data set. */

import { beforeAll, expect, it } from 'vitest';
import { run as sql } from '../../commands/sql.ts';
import { viewName } from '../../pipeline/datasets/views.ts';
import { DATASET_TABLES } from '../../schemas/datasets/tables.ts';
import { collectedOutput } from '../support/commands/collected-output.ts';
import { readManifest, rowsOf } from '../support/datasets/check-folder.ts';
import type { DuckDb } from '../support/datasets/duckdb.ts';
import type { ExportedService, OpenedDataset } from './exported-service.ts';

export function sqlConforms(opened: () => OpenedDataset): void {
  let service: ExportedService;
  let duckdb: DuckDb;
  beforeAll(() => {
    ({ service, duckdb } = opened());
  });

  async function answer(statement: string, more: Partial<Parameters<typeof sql>[1]> = {}) {
    const { output, lines, notes } = collectedOutput();
    const input = { statement, format: undefined, rows: undefined, seconds: undefined, ...more };
    const { state } = await sql(service.context, input, output);
    return { lines, notes, ...(state as { rows: Readonly<Record<string, unknown>>[]; isCut: boolean }) };
  }

  it.each(DATASET_TABLES.map((table) => [viewName(table), table] as const))(
    '%s contains the rows of the data set',
    async (view, table) => {
      const { rows } = await answer(`SELECT count() AS n, sum(height) AS heights FROM ${view}`);
      const files = await readManifest(service.folder, table.name);
      const [own] =
        files.length > 0
          ? await duckdb.rows(
              `SELECT count(*) AS n, sum(height) AS heights FROM ${await rowsOf(service.folder, table.name)}`,
            )
          : [{ n: '0', heights: '0' }];
      expect(rows).toEqual([own]);
      if (files.length === 0) return;
      const described = await answer(`SELECT * FROM ${view}`, { rows: '1' });
      expect(Object.keys(described.rows[0] ?? {})).toEqual(table.columns.map(({ name }) => name));
    },
  );

  it('keeps the order, and reports that there are more rows', async () => {
    const statement = 'SELECT height FROM v_blocks ORDER BY height DESC';
    const { rows, isCut, lines, notes } = await answer(statement, { rows: '3' });
    const tip = service.node.height;
    expect(rows).toEqual([tip, tip - 1, tip - 2].map((height) => ({ height })));
    expect(isCut).toBe(true);
    expect(lines).toEqual(['height', ...[tip, tip - 1, tip - 2].map(String)]);
    expect(notes).toEqual([expect.stringContaining('the first 3 rows')]);
  });

  it('joins views, and accepts WITH', async () => {
    const { rows } = await answer(
      `WITH young AS (SELECT chain, height, hash FROM v_blocks WHERE height > 900)
     SELECT count() AS n FROM v_transactions t JOIN young USING (chain, height) -- a comment`,
    );
    const [own] = await service.stores.clickhouse.query('SELECT count() AS n FROM transactions WHERE height > 900');
    expect(rows).toEqual([own]);
  });

  it.each([
    'SELECT 1 AS one',
    'SELECT number FROM numbers(3) WHERE number IN (1, 2)',
    'WITH a AS (SELECT height FROM v_blocks), 1 AS b SELECT a.height, b FROM a WHERE a.height IN (SELECT height FROM v_transactions) LIMIT 2',
    'SELECT count() AS n FROM v_blocks AS b ASOF JOIN v_prices AS p ON b.chain = p.chain AND b.height >= p.height',
    'SELECT t.kind, count() OVER (PARTITION BY t.kind ORDER BY t.height) AS n FROM v_transactions AS t WHERE t.height NOT IN (1, 2) LIMIT 2',
    'SELECT * EXCEPT (hash) FROM v_blocks ORDER BY height LIMIT 1 BY height UNION ALL SELECT * EXCEPT (hash) FROM v_blocks',
    'SELECT sum(height) OVER (w ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS n FROM v_blocks WINDOW w AS (ORDER BY height) LIMIT 2',
    "SELECT 'OVER (' AS a, max(height) OVER () AS \"b c\" FROM v_blocks // a comment with '",
    "SELECT arrayJoin(reserve_ids) AS id, COLUMNS('reserve') FROM v_currency_states ARRAY JOIN weights",
  ])('allows %s', async (statement) => {
    await answer(statement, { rows: '2' });
  });

  it('prints a table with more rows than a call can have arguments', async () => {
    const statement = "SELECT number, 'x' AS text FROM numbers(200000)";
    const { lines } = await answer(statement, { format: 'table', rows: '200000' });
    expect(lines).toHaveLength(200_001);
    expect([lines[0], lines[1], lines.at(-1)]).toEqual(['number  text', '0       x', '199999  x']);
  });

  // In one format: the bound holds before the format matters.
  it('an answer is bounded in bytes', async () => {
    const most = { rows: '1000000' };
    const stored = answer("SELECT toString(number) || repeat('x', 1000) AS text FROM numbers(400000)", most);
    await expect(stored).rejects.toThrow(/Limit for result exceeded, max bytes: 256.00 MiB/);
    // ClickHouse counts the value of a constant only once.
    const names = Array.from({ length: 30 }, (_, index) => `1 AS constant_with_a_long_name_${index}`);
    const constants = answer(`SELECT ${names.join(', ')} FROM numbers(300000)`, most);
    await expect(constants).rejects.toThrow('ClickHouse refused the statement: the answer is larger than 256 MiB');
  });

  it('own names may begin like those of views', async () => {
    const statement =
      "WITH v_mine AS (SELECT count() AS v_n FROM v_blocks) SELECT v_n > 0 AS v_some FROM v_mine WHERE 'v_x' <> ''";
    expect((await answer(statement)).lines).toEqual(['v_some', '1']);
  });

  it('the width of a table is bounded, even with a long cell', async () => {
    const statement = "SELECT if(number = 0, repeat('x', 1000000), 'y') AS text, number FROM numbers(300)";
    await expect(answer(statement, { format: 'table' })).rejects.toThrow('choose csv or ndjson');
    expect((await answer(statement)).lines).toHaveLength(301);
  });

  it.each([
    ['SELECT * FROM v_nothing', {}, /"v_nothing" is not allowed: a statement reads the views v_blocks, /],
    ['SELECT 1', { rows: '0' }, /"0" is not a value of --rows; allowed is a whole number from 1 to 1000000/],
    ['SELECT 1', { seconds: '601' }, /--seconds; allowed is a whole number from 1 to 600/],
    ['SELECT 1', { format: 'xml' }, /there is no format "xml"; allowed are csv, ndjson, table/],
    ['INSERT INTO blocks SELECT 1', {}, /only a SELECT is allowed/],
    ["SELECT * FROM file('/etc/passwd')", {}, /"file" is not allowed: a statement reads the views v_blocks, /],
    ["SELECT * FROM `url`('http://127.0.0.1:1/', CSV)", {}, /"url" is not allowed/],
    ["SELECT file('/etc/passwd')", {}, /"file" is not allowed/],
    ["SELECT dictGet('a', 'b', 1)", {}, /"dictGet" is not allowed/],
    ['SELECT * FROM blocks', {}, /"blocks" is not allowed/],
    ['SELECT * FROM system.users', {}, /"system.users" is not allowed/],
    ['SELECT * FROM v_blocks, "system".users', {}, /"system.users" is not allowed/],
    ['SELECT 1 WHERE 1 IN system.users', {}, /"IN system.users" is not allowed/],
    ['SELECT 1 WHERE 1 IN (SELECT height FROM (SELECT * FROM blocks))', {}, /"blocks" is not allowed/],
    ['SELECT * FROM (EXPLAIN SELECT 1)', {}, /is not allowed/],
    ['SELECT * FROM viewExplain(1)', {}, /./],
    ['SELECT (SELECT max(height) FROM merge(currentDatabase(), $a$.*$a$))', {}, /write texts in/],
    ["SELECT (SELECT max(height) FROM merge(currentDatabase(), '.*'))", {}, /"merge" is not allowed/],
    ["SELECT * APPLY(file) FROM values('p String', '/etc/hostname')", {}, /"ColumnsApplyTransformer" is not allowed/],
    ['SELECT * APPLY(x -> (SELECT count() FROM blocks)) FROM numbers(1)', {}, /"ColumnsApplyTransformer" is not/],
    ['SELECT count() OVER (PARTITION BY (SELECT max(height) FROM blocks)) FROM numbers(1)', {}, /"blocks" is not/],
    ['SELECT count() OVER /* ( */ (ORDER BY (SELECT 1 IN system.users)) FROM numbers(1)', {}, /"IN system.users" is/],
    [
      'SELECT count() OVER (ORDER BY number ROWS (SELECT count() FROM blocks) PRECEDING) FROM numbers(1)',
      {},
      /"blocks" is not allowed/,
    ],
    [
      'SELECT count() OVER (ORDER BY (SELECT count() OVER (ORDER BY (SELECT count() FROM blocks)))) FROM numbers(1)',
      {},
      /"blocks" is not allowed/,
    ],
    [
      'SELECT count() OVER w FROM numbers(1) WINDOW w AS (ROWS BETWEEN 1 PRECEDING AND (SELECT count() FROM blocks) FOLLOWING)',
      {},
      /"blocks" is not allowed/,
    ],
    [
      'SELECT * REPLACE ((SELECT count() FROM blocks) AS number) FROM numbers(1) ORDER BY 1 WITH FILL STEP 1 LIMIT 1 BY 1',
      {},
      /"blocks" is not allowed/,
    ],
    ["SELECT 1 // '\n) UNION ALL SELECT count() FROM (SELECT * FROM blocks // '\n", {}, /parentheses/],
    ['SELECT 1 IN system.users AS "a\n    Identifier b"', {}, /a name in quotes must not have a backslash/],
    ['SELECT 1 IN system.users AS `a\\n    Identifier b`', {}, /a name in quotes must not have a backslash/],
    ["SELECT hasColumnInTable('127.0.0.1:1', 'a', 'b', 'c', 'd', 'e')", {}, /"hasColumnInTable" is not allowed/],
    ['WITH blocks AS (SELECT 1) SELECT * FROM blocks', {}, /"blocks" is a table of the service: choose another name/],
    ["SELECT repeat('x', 40000000)", {}, /ClickHouse refused the statement: Too many times to repeat/],
    ['SELECT nothing FROM v_blocks', {}, /ClickHouse refused the statement: .*nothing/],
    ['SELECT count() FROM numbers(100000000000) WHERE sleepEachRow(0) = 1', { seconds: '1' }, /./],
  ])('refuses %s %j', async (statement, more, said) => {
    await expect(answer(statement, more)).rejects.toThrow(said);
  });
}
