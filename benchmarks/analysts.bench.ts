/**
 * The eleven questions of analysts on N conversions of four chains, each against the bare statement in ClickHouse; the export of the data
 * set against ClickHouse writing the same files; and the service's p99 while an export runs, and while readers download the data set.
 * node benchmarks/analysts.bench.ts [conversions = 200000] [seconds per measurement = 3] [rounds = 3] [parts = questions,sql,export,service]
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { run as sql } from '../commands/sql.ts';
import { BESIDE_SERVICE } from '../pipeline/datasets/pace.ts';
import { collectedOutput } from '../test/support/commands/collected-output.ts';
import { createTestStores } from '../test/support/infra/test-stores.ts';
import { exportInto, OWN_TABLES, type TimedExport, timeBare, timeExport } from './analysts/export.ts';
import { ADDRESSES, makeAnalystsHistory } from './analysts/history.ts';
import type { LoadPlan, LoadReport } from './analysts/load.ts';
import { type AnalystQuery, questionsAt } from './analysts/questions.ts';
import { serveHistory } from './analysts/serve.ts';
import type { BenchmarkHistory } from './clickhouse-paths/history.ts';
import { startMemorySamples } from './memory-samples.ts';
import { percentile } from './percentile.ts';
import { atLeast, atMost, median } from './verdict.ts';

const [conversions = 200_000, seconds = 3, rounds = 3] = process.argv.slice(2, 5).map(Number);
const parts = new Set((process.argv[5] ?? 'questions,sql,export,service').split(','));
const EXPORT_TARGET = 0.8;
const READERS = 8;
const RATE = 25;
const P99_TARGET = 1.5;
const LEAST_TURNS = 5;
/** A p99 needs more requests than a median. */
const TURNS_OF_P99 = 3 * rounds;

const stores = await createTestStores();
const began = performance.now();
const history = await makeAnalystsHistory(stores, conversions);
const served = await serveHistory(stores);
const run = { stores, chains: served.config.chains, signal: new AbortController().signal };
/** Repeated measurements export the days of only one chain: four chains would take minutes. */
const ofOneChain = { ...run, chains: run.chains.slice(0, 1) };
console.log(
  `${conversions} conversions, ${history.height + 1} blocks a chain: ${((performance.now() - began) / 1000).toFixed(0)} s`,
);

const never = new AbortController().signal;
const cell = (value: number, digits = 1) => value.toFixed(digits).padStart(9);

async function answerOf({ asked }: AnalystQuery): Promise<string> {
  if ('path' in asked) {
    const answer = await fetch(served.url + asked.path);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${asked.path} answers ${answer.status}: ${text}`);
    return text;
  }
  const { output, lines } = collectedOutput();
  const input = { statement: asked.sql, format: 'csv', rows: '1000000', seconds: undefined };
  await sql({ stores, signal: never }, input, output);
  return `${lines.join('\n')}\n`;
}

const timed = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
  const from = performance.now();
  return [await work(), performance.now() - from];
};

async function measureQuestions(made: BenchmarkHistory): Promise<void> {
  console.log(
    `question                                         p50 ms     p99 ms   bare p50   bare p99  × (p50)  × (p99)`,
  );
  for (const place of questionsAt(0, made).keys()) {
    const [own, bare]: [number[], number[]] = [[], []];
    const end = performance.now() + seconds * 1000;
    let name = '';
    for (let turn = 0; turn < LEAST_TURNS || performance.now() < end; turn++) {
      const question = questionsAt(turn, made)[place];
      if (!question) throw new TypeError(`no question ${place}`);
      name = question.name;
      const ask = async () => {
        const [text, took] = await timed(() => answerOf(question));
        own.push(took);
        return question.figure(text);
      };
      const askBare = async () => {
        const { sql: statement, params, figure } = question.bare;
        const [rows, took] = await timed(() => stores.clickhouse.query(statement, params));
        bare.push(took);
        return figure(rows);
      };
      // Alternating, so that other load on the machine affects both alike.
      const [answered, expected] =
        turn % 2 === 0 ? [await ask(), await askBare()] : swapped(await askBare(), await ask());
      if (answered !== expected) {
        console.log(`${name}, turn ${turn}: ANSWERS DIFFER: ${answered}, ClickHouse says ${expected}`);
        process.exitCode = 1;
        break;
      }
    }
    const [p50, p99, bareP50, bareP99] = [own, bare].flatMap((took) => [median(took), percentile(took, 0.99)]) as [
      number,
      number,
      number,
      number,
    ];
    console.log(
      `${name.padEnd(46)}${[p50, p99, bareP50, bareP99].map((value) => cell(value)).join('  ')}${cell(p50 / bareP50, 2)}${cell(p99 / bareP99, 2)}`,
    );
  }
}

/** Statements that read every conversion, with its columns from Postgres, within the memory limit of a statement. */
const WHOLE = [
  ['SELECT * FROM v_conversions', '10000'],
  ['SELECT * FROM v_conversions ORDER BY usd_value DESC', '10'],
  [
    'SELECT price_basket, count() AS n, sum(usd_value) AS usd, sum(other_usd_value) AS other FROM v_conversions GROUP BY price_basket',
    '100',
  ],
  ['SELECT kind, count() AS n, sum(amount_in) AS paid FROM v_transfers GROUP BY kind', '100'],
] as const;

async function measureWholeStatements(): Promise<void> {
  console.log('\nstatements over every conversion');
  for (const [statement, most] of WHOLE) {
    const input = { statement, format: 'csv', rows: most, seconds: '600' };
    const { output, lines } = collectedOutput();
    const [said, took] = await timed(() =>
      sql({ stores, signal: never }, input, output).then(
        () => `${lines.length - 1} rows`,
        (error: unknown) => {
          process.exitCode = 1;
          return `REFUSED: ${error}`;
        },
      ),
    );
    console.log(`${(took / 1000).toFixed(1).padStart(6)} s  ${said}  ${statement}`);
  }
}

const swapped = <A, B>(a: A, b: B): [B, A] => [b, a];

/** Exports each table in its own pass, and then all tables in one pass, as a real export does, against the sum of ClickHouse's times. */
async function measureExport(): Promise<void> {
  console.log(`\nexport of a chain: rows/s, those of ClickHouse writing the same files, and the ratio`);
  const bareOfAll: TimedExport[] = Array.from({ length: rounds }, () => ({ rows: 0, seconds: 0 }));
  for (const table of OWN_TABLES) {
    const [own, bare]: [TimedExport[], TimedExport[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      const first = async () => void own.push(await timeExport(ofOneChain, [table]));
      const second = async () => void bare.push(await timeBare(ofOneChain, table));
      for (const work of round % 2 === 0 ? [first, second] : [second, first]) await work();
    }
    for (const [round, { rows, seconds }] of bare.entries()) {
      const sum = bareOfAll[round] ?? { rows: 0, seconds: 0 };
      bareOfAll[round] = { rows: sum.rows + rows, seconds: sum.seconds + seconds };
    }
    showExport(table.name, own, bare);
  }
  const ownOfAll: TimedExport[] = [];
  for (let round = 0; round < rounds; round++) ownOfAll.push(await timeExport(ofOneChain, OWN_TABLES));
  showExport('all of these', ownOfAll, bareOfAll);
}

function showExport(name: string, own: readonly TimedExport[], bare: readonly TimedExport[]): void {
  const [ownRate = 0, bareRate = 0] = [own, bare].map((all) => median(all.map(({ rows, seconds }) => rows / seconds)));
  console.log(
    `${name.padEnd(20)}${cell(ownRate, 0)}${cell(bareRate, 0)}     ${atLeast(ownRate / bareRate, EXPORT_TARGET)}`,
  );
}

async function asker(asked: LoadPlan): Promise<LoadReport> {
  const child = fork(fileURLToPath(new URL('./analysts/load.ts', import.meta.url)));
  child.send(asked);
  const [report] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('the asker ended before it reported'))),
  ])) as [LoadReport];
  return report;
}

/** Paths that callers request meanwhile: points, lists and sums. */
function usualPaths(): string[] {
  return Array.from({ length: 50 }, (_, turn) => {
    const at = 100 + ((turn * 97) % (history.height - 100));
    return [
      `/api/blocks/${at}?chain=one`,
      `/api/address/${ADDRESSES[turn]}/conversions?chain=one&pageSize=20`,
      `/api/address/${ADDRESSES[turn]}/balance?chain=one`,
      `/api/conversions/?chain=one&pageSize=${20 + turn}`,
      `/api/oracle/prices/i1${turn % 10}?height=${at}`,
      `/api/market/baskets/i1${turn % 10}/volume?days=${7 + turn}`,
    ];
  }).flat();
}

async function quietAnd(name: string, busy: () => Promise<{ readonly stop: () => Promise<string> }>): Promise<void> {
  const paths = usualPaths();
  const asked: LoadPlan = { url: served.url, paths, seconds: seconds * 2, rate: RATE, readers: 64 };
  await asker(asked); // warms the caches
  const [quiet, during]: [number[], number[]] = [[], []];
  let said = '';
  for (let turn = 0; turn < TURNS_OF_P99; turn++) {
    quiet.push(...(await asker(asked)).latencies);
    const load = await busy();
    during.push(...(await asker(asked)).latencies);
    said = await load.stop();
  }
  // All turns are pooled, because one has too few requests for a p99.
  const [beside, alone] = [percentile(during, 0.99), percentile(quiet, 0.99)];
  console.log(
    `${name}: p99 ${beside.toFixed(1)} ms, quiet ${alone.toFixed(1)} ms: ratio ${atMost(beside / alone, P99_TARGET)}; ${said}`,
  );
}

async function whileExporting() {
  const folder = join(served.folder, 'again');
  const stop = new AbortController();
  const from = performance.now();
  let passes = 0;
  const exporting = (async () => {
    for (; !stop.signal.aborted; passes++) {
      await rm(folder, { recursive: true, force: true });
      await exportInto(folder, { ...run, signal: stop.signal }, { pace: BESIDE_SERVICE });
    }
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  await sleep(200);
  return {
    async stop() {
      stop.abort();
      await exporting;
      return `${passes} whole passes in ${((performance.now() - from) / 1000).toFixed(0)} s`;
    },
  };
}

async function whileFetching() {
  const { tables } = (await (await fetch(`${served.url}/api/datasets/`)).json()) as { tables: { manifest: string }[] };
  const manifests = await Promise.all(tables.map(async ({ manifest }) => (await fetch(manifest)).json()));
  const paths = (manifests.flat() as { url: string }[]).map(({ url }) => new URL(url).pathname);
  const from = performance.now();
  const fetching = asker({ url: served.url, paths, seconds: seconds * 2 + 2, rate: null, readers: READERS });
  await sleep(500);
  return {
    async stop() {
      const { bytes, latencies } = await fetching;
      const rate = bytes / 2 ** 20 / ((performance.now() - from) / 1000);
      return `${READERS} readers had ${latencies.length} files, ${rate.toFixed(0)} MiB/s`;
    },
  };
}

async function measureWholeExport(): Promise<void> {
  const memory = startMemorySamples();
  const [outcome, took] = await timed(() => exportInto(served.folder, run));
  const { peak } = memory.stop();
  const [rows, files] = [outcome.tables.map(({ rows: n }) => n), outcome.tables.map(({ files: n }) => n)].map((of) =>
    of.reduce((a, b) => a + b, 0),
  );
  console.log(`\nall tables: ${rows} rows in ${files} files, ${(took / 1000).toFixed(0)} s, peak memory ${peak} MB`);
}

try {
  if (parts.has('questions')) await measureQuestions(history);
  if (parts.has('sql')) await measureWholeStatements();
  if (parts.has('export')) {
    await measureExport();
    await measureWholeExport();
  }
  if (parts.has('service')) {
    await exportInto(served.folder, ofOneChain);
    await quietAnd('while an export runs', whileExporting);
    await quietAnd('while the data set is fetched', whileFetching);
  }
} finally {
  await served.close();
  await stores.close();
}
process.exit();
