import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkedStatement, mentionsOf, viewNames, windowsIn } from './sql-text.ts';

describe('a statement', () => {
  it.each([
    ['SELECT 1', 'SELECT 1'],
    [' select a from v_blocks ; ', 'select a from v_blocks'],
    ["WITH x AS (SELECT ')' AS a) SELECT * FROM x -- )", "WITH x AS (SELECT ')' AS a) SELECT * FROM x -- )"],
    ["SELECT 'it''s; (' || \"b)\" /* ( */", "SELECT 'it''s; (' || \"b)\" /* ( */"],
  ])('%s is allowed', (sql, expected) => expect(checkedStatement(sql)).toBe(expected));

  it.each([
    ['DROP TABLE blocks', /only a SELECT is allowed/],
    ['SELECT 1; SELECT 2', /only one statement/],
    ['SELECT 1) UNION ALL SELECT (2', /parentheses/],
    ['SELECT (1', /parentheses/],
    ["SELECT 'open", /does not end/],
    ['SELECT 1 /* open', /does not end/],
    ["SELECT 1 INTO OUTFILE 'x'", /"INTO OUTFILE" is not allowed/],
    ['SELECT 1 SETTINGS max_threads = 9', /"SETTINGS" is not allowed/],
    ['SELECT 1 FORMAT CSV', /"FORMAT CSV" is not allowed/],
    ["SELECT $$'$$) -- '", /write texts in '…' only/],
    ["SELECT 1 // '\n) UNION ALL SELECT (2 // '", /parentheses/],
    ['SELECT 1 AS "a\nb"', /a name in quotes must not have a backslash or a line break/],
    ['SELECT 1 AS `a\\nb`', /a name in quotes must not have a backslash or a line break/],
  ])('%s is refused', (sql, said) => expect(() => checkedStatement(sql)).toThrow(said));

  it('never breaks out of the parentheses around it', () => {
    const parts = fc.array(
      fc.constantFrom('(', ')', '$$', '#', '# ', "'", '"', '`', '--', '//', '/*', '*/', '\n', ' x ', ';', '\\'),
      {
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(parts, (text) => {
        const sql = `SELECT ${text.join('')}`;
        let allowed: string;
        try {
          allowed = checkedStatement(sql);
        } catch {
          return;
        }
        // The statement cannot swallow the text that follows it.
        expect(checkedStatement(`SELECT * FROM (\n${allowed}\n) LIMIT 1`)).toContain('LIMIT 1');
      }),
    );
  });
});

it.each([
  ['SELECT 1', []],
  ['SELECT a OVER w FROM b WINDOW w AS (ORDER BY c)', []],
  ['SELECT a OVER (ORDER BY f(b, (c))), d over /* ( */ ()', ['ORDER BY f(b, (c))', '']],
  ['SELECT \'OVER (a)\', "OVER (b" -- OVER (c)', []],
  ["SELECT a OVER (ORDER BY ')' || b) FROM c", ["ORDER BY ')' || b"]],
  ['SELECT a OVER (ORDER BY (SELECT b OVER (w)))', ['ORDER BY (SELECT b OVER (w))', 'w']],
])('finds the windows of %s', (sql, windows) => {
  expect(windowsIn(checkedStatement(sql))).toEqual(windows);
});

it('names its views', () => {
  expect(viewNames('SELECT * FROM v_blocks b JOIN v_prices USING (height)')).toEqual(new Set(['v_blocks', 'v_prices']));
  expect(viewNames("WITH v_mine AS (SELECT 1 AS v_one) SELECT * FROM v_mine, v_blocks WHERE 'v_x' <> ''")).toEqual(
    new Set(['v_blocks']),
  );
});

it.each([
  ['SELECT price_basket FROM v_conversions', true],
  ['SELECT * FROM v_conversions', true],
  ["SELECT COLUMNS ('price') FROM v_conversions", true],
  ['SELECT c.* FROM v_conversions c', true],
  ['SELECT count(*), count( * ) FROM v_conversions', false],
  ['SELECT other_price_basket FROM v_conversions', false],
])('%s may use price_basket: %s', (sql, may) => {
  expect(mentionsOf(sql)('price_basket')).toBe(may);
});
