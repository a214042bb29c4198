/**
 * Rows, and the JSON in them, are read by readers, which check the columns, and not by type assertions.
 * docs/decisions/0051-schemas-give-types.md
 */
import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const PROGRAM = /^(api|commands|infra|pipeline)\/(?!.*\.test\.ts$)/;
/** Passes the rows of a statement to their reader. */
const HELPER = 'infra/postgres/read-rows.ts';
const ASSERTIONS = [
  /\.query</, // typed assertion
  /\{[^{}=;]*\brows\b[^{}=;]*\}\s*=\s*await\b[^;]*?\.query\(/, // implicit any
  /\.query\([^;]*\)\??\.rows\b/,
];
const WHAT_TO_DO =
  'read the rows with a rowReader: readRows(pool, reader, sql, values) of infra/postgres/read-rows.ts, ' +
  'read.rows(reader, sql, values) in a snapshot, or clickhouse.rows(reader, sql, params)';

const JSON_ASSERTIONS = [
  /JSON\.parse\([^;]*?\)\)? as (?!unknown\b)/, // typed assertion
  /: (?!unknown\b)[^=;\n]+ = JSON\.parse\(/, // implicit any
];
/** These files parse files and messages. */
const NO_COLUMNS =
  /^(api|pipeline)\/datasets\/|^api\/openapi\/examples\.ts$|^commands\/play-recording\.ts$|^infra\/control-socket\//;

const asserts = (text: string): boolean => ASSERTIONS.some((pattern) => pattern.test(text));

it('no program file asserts the type of rows', async () => {
  const files = (await sourceFiles()).filter(({ path }) => PROGRAM.test(path));
  expect(files.length).toBeGreaterThan(400);
  const asserting = files.filter(({ text }) => asserts(text)).map(({ path }) => path);
  expect(asserting, WHAT_TO_DO).toEqual([HELPER]);
});

const assertsJson = (text: string): boolean => JSON_ASSERTIONS.some((pattern) => pattern.test(text));

it('no program file asserts the type of a JSON column', async () => {
  const files = (await sourceFiles()).filter(({ path }) => PROGRAM.test(path) && !NO_COLUMNS.test(path));
  const asserting = files.filter(({ text }) => assertsJson(text)).map(({ path }) => path);
  expect(asserting, 'read the text with a jsonReader of infra/row-reader.ts').toEqual([]);
});

it.each([
  ["const coins = JSON.parse(row.coins ?? '[]') as Coin[];", true],
  ['  guard: guard === null ? null : (JSON.parse(guard) as GuardView),', true],
  ['const { bounds: _, ...inputs }: StampInputs = JSON.parse(row.inputs);', true],
  ['const { cost } = JSON.parse(registration) as {\n  cost: string;\n};', true],
  ['const value: unknown = JSON.parse(text);', false],
  ['const held = { status: JSON.parse(status) as unknown, age };', false],
  ["const coins = readCoins(row.coins ?? '[]');", false],
])('of JSON it judges %s', (code, expected) => {
  expect(assertsJson(code)).toBe(expected);
});

it.each([
  'const { rows } = await client.query<{ seconds: number }>(NEXT_SQL, [id]);',
  'const { rows: letters, rowCount } = await pool.query(\n    LIST_SQL,\n  );',
  'return (await pool.query(LIST_SQL, own(holder))).rows;',
  'return (await pool.query(LIST_SQL))?.rows[0];',
])('it would see %s', (code) => {
  expect(asserts(code)).toBe(true);
});

it.each([
  "const { rowCount } = await client.query('DELETE FROM t');",
  "return (await client.query('DELETE FROM t')).rowCount === 1;",
  'const rows = await readRows(client, readRow, SQL);',
])('it lets %s be', (code) => {
  expect(asserts(code)).toBe(false);
});
