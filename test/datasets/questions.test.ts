/**
 * The eleven questions of analysts, on the recording and on a generated chain. The answers of the SQL of examples/analysts in DuckDB, of its
 * Python programs and of the API must each equal plain sums over the rows of Postgres.
 */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run as reprocess } from '../../commands/reprocess.ts';
import { run as sql } from '../../commands/sql.ts';
import { SYSTEM_ADDRESSES } from '../../domain/system-addresses.ts';
import { NATIVE, USDX } from '../api/running-service.ts';
import { ROOT } from '../house/source-files.ts';
import { collectedOutput } from '../support/commands/collected-output.ts';
import { apiAnswers } from '../support/datasets/api-answers.ts';
import { type DuckDb, duckDbHome, openDuckDb } from '../support/datasets/duckdb.ts';
import {
  type AnswerRow,
  type ChosenWords,
  comparable,
  plainAnswers,
  readPlainFacts,
} from '../support/datasets/plain-answers.ts';
import { COMPILED, DUCKDB, PANDAS, pythonPackage } from '../support/infra/python-packages.ts';
import {
  type ExportedService,
  type GeneratedService,
  startExportedService,
  startGeneratedService,
} from './exported-service.ts';

const EXAMPLES = join(ROOT, 'examples/analysts');
const NUMBERS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] as const;
/** Questions whose answers are ordered. */
const ORDERED = new Set([1, 3, 5, 7, 9]);
const silent = collectedOutput().output;
const home = duckDbHome();
type Answers = ReadonlyMap<number, readonly AnswerRow[]>;

const statements = new Map(
  [...readFileSync(join(EXAMPLES, 'questions.sql'), 'utf8').matchAll(/^-- (\d+)\. [^\n]*\n([^;]*);/gm)].map(
    ([, number, sql = '']) => [Number(number), sql] as const,
  ),
);

const byDay = (rows: readonly AnswerRow[]): AnswerRow[] =>
  [...Map.groupBy(rows, ({ day }) => day)].map(([day, own]) => ({
    day,
    trades: own.reduce((sum, { trades }) => sum + Number(trades), 0),
    usd: own.reduce((sum, { usd }) => sum + Number(usd), 0),
  }));

const CHAINS = [
  { name: 'the recording', currency: USDX, start: () => startExportedService() },
  { name: 'a generated chain', currency: null, start: () => startGeneratedService(260, 6) },
] as const;

describe.each(CHAINS)('on $name', ({ currency, start }) => {
  let service: GeneratedService | ExportedService;
  let duckdb: DuckDb;
  let chosen: ChosenWords;
  let expected: Answers;

  beforeAll(async () => {
    service = await start();
    await service.settled(true);
    expect(await reprocess(service.context, { regime: 'backfill' }, silent)).toMatchObject({ exitCode: 0 });
    await service.exported();
    duckdb = await openDuckDb();
    await duckdb.rows(
      `SET s3_endpoint = '127.0.0.1:${service.port}'; SET s3_use_ssl = false; SET s3_url_style = 'path'; SET s3_region = 'any'; SET TimeZone = 'UTC'`,
    );
    const facts = await readPlainFacts(service.stores);
    const most = <T>(values: readonly (T | null)[]): T => {
      const counted = [
        ...Map.groupBy(
          values.filter((value) => value !== null),
          (value) => value,
        ).values(),
      ];
      return counted.sort((a, b) => b.length - a.length)[0]?.[0] as T;
    };
    const worth = facts.conversions.map(({ usd }) => Number(usd ?? 0)).sort((a, b) => a - b);
    const times = facts.conversions.map(({ time }) => Number(time)).sort((a, b) => a - b);
    const text = (time = 0) => new Date(time * 1000).toISOString().slice(0, 19).replace('T', ' ').concat('+00:00');
    chosen = {
      currency: currency ?? most(facts.prices.map(({ currency: priced }) => priced)),
      basket: most(facts.conversions.map(({ basket }) => basket)),
      address: most(facts.conversions.map(({ source }) => source)),
      usd: String(Math.floor(worth[worth.length >> 1] ?? 0)),
      from: text(times[0]),
      to: text(times[Math.floor(times.length * 0.8)]),
      height: String(Math.floor(service.node.height * 0.7)),
    };
    expected = plainAnswers(facts, chosen, NATIVE);
  });
  afterAll(async () => {
    duckdb?.close();
    await service?.stop();
  });

  function equal(number: number, rows: readonly AnswerRow[]): void {
    const plain = expected.get(number) ?? [];
    expect(plain.length, `rows of question ${number}`).toBeGreaterThan(0);
    const columns = Object.keys(plain[0] ?? {});
    const [got, wanted] = [comparable(rows, columns), comparable(plain, columns)];
    expect({ number, rows: ORDERED.has(number) ? got : got.sort() }).toEqual({
      number,
      rows: ORDERED.has(number) ? wanted : wanted.sort(),
    });
  }

  it.each(NUMBERS)('%d by a DuckDB statement', async (number) => {
    const table = (name: string) => `read_parquet('s3://datasets/${name}/*/*.parquet', hive_partitioning = true)`;
    const words = new Map(Object.entries(chosen));
    const sql = statements.get(number)?.replace(/\$([a-z_]+)/g, (_, word: string) => words.get(word) ?? table(word));
    equal(number, await duckdb.rows(sql ?? ''));
  });

  const python = async (program: string, packages: readonly string[], host: string): Promise<Answers> => {
    const words = Object.entries(chosen).map(([word, value]) => `${word}=${value}`);
    const own = { HOME: home, PYTHONPATH: packages.join(':'), PYTHONPYCACHEPREFIX: COMPILED, NO_PROXY: '127.0.0.1' };
    const env = { ...process.env, ...own };
    const { stdout } = await promisify(execFile)('python3', [join(EXAMPLES, program), host, ...words], {
      env,
      maxBuffer: 2 ** 26,
    });
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { question: number; rows: AnswerRow[] });
    return new Map(lines.map(({ question, rows }) => [question, rows]));
  };

  it('all by the API, and 8 by `verustream sql`', async () => {
    const answers = new Map(await apiAnswers(service.url, chosen));
    const statement = `SELECT regime, other_regime, count() AS n, sum(usd_value) AS usd, sum(other_usd_value) AS other_usd
      FROM v_conversions GROUP BY regime, other_regime`;
    const input = { statement, format: undefined, rows: undefined, seconds: undefined };
    const { state } = await sql(service.context, input, silent);
    answers.set(8, (state as { rows: AnswerRow[] }).rows);
    for (const number of NUMBERS) closeTo(number, answers.get(number) ?? []);
  });

  /** The API prints fewer decimals of USD, adds both directions of a pair, omits keys of the protocol, and orders equal values by request. */
  function closeTo(number: number, rows: readonly AnswerRow[]): void {
    const all = number === 2 ? byDay(expected.get(2) ?? []) : (expected.get(number) ?? []);
    const plain = number === 3 ? all.filter(({ address }) => !SYSTEM_ADDRESSES.has(String(address))) : all;
    const columns = Object.keys(plain[0] ?? {});
    const exact = columns.filter((name) => !name.includes('usd'));
    const sorted = (given: readonly AnswerRow[]) =>
      given
        .map((row) => ({ row, key: comparable([row], exact)[0] ?? '' }))
        .sort((a, b) => (ORDERED.has(number) && number !== 5 ? 0 : a.key < b.key ? -1 : 1));
    // The API has one more holder instead of a key of the protocol.
    const [got, wanted] = [sorted(number === 3 ? rows.slice(0, plain.length) : rows), sorted(plain)];
    expect({ number, rows: got.map(({ key }) => key) }).toEqual({ number, rows: wanted.map(({ key }) => key) });
    for (const [index, { row }] of got.entries()) {
      for (const name of columns.filter((column) => column.includes('usd'))) {
        const [own, other] = [Number(row[name] ?? 0), Number(wanted[index]?.row[name] ?? 0)];
        expect(Math.abs(own - other), `${number} ${name}: ${own}, ${other}`).toBeLessThan(1e-6 * Math.max(1, other));
      }
    }
  }

  it('all by pandas', async () => {
    const answers = await python('questions.py', [pythonPackage(PANDAS)], service.url);
    for (const number of NUMBERS) equal(number, answers.get(number) ?? []);
  });

  it('all by DuckDB in Python', async () => {
    const answers = await python(
      'duckdb_questions.py',
      [pythonPackage(DUCKDB), pythonPackage(PANDAS)],
      `127.0.0.1:${service.port}`,
    );
    for (const number of NUMBERS) equal(number, answers.get(number) ?? []);
  });
});
