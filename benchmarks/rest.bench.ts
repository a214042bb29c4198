/**
 * Requests per second of the REST interface. Prepared answers: against a bare uWebSockets.js hello, a bare uWebSockets.js server that reads
 * and sends the same, and Fastify with the same bytes. Point reads, recomputed and cached: against the same prepared selects without HTTP, by
 * one client and by several. Every server runs in its own process, as in production. The limiter is on: all requests, also those to the
 * baselines, carry an API key whose allowance is never used up.
 * node benchmarks/rest.bench.ts [seconds per measurement = 3] [rounds = 3]
 */
import pg from 'pg';
import { CHAIN } from '../test/api/running-service.ts';
import { startChild } from './child.ts';
import { bareSelects, keysOf, POINT_READS, type PointRead } from './rest/point-reads.ts';
import type { ReportedService } from './rest/service.ts';
import { SEVERAL, selectsBySeveral } from './rest/several-clients.ts';
import { atLeast, median } from './verdict.ts';
import { hasWrk, load } from './wrk.ts';

const PREPARED = ['/api/oracle/prices', '/api/market/currencies', '/api/stats/', '/api/market/protocol'];
const SAME_BYTES = '/api/oracle/prices';
const [HELLO, BARE] = ['hello', 'the same bytes'];
const LEAST: Readonly<Record<string, number>> = { [HELLO]: 0.8, [BARE]: 0.93 };
const [seconds = 3, rounds = 3] = process.argv.slice(2).map(Number);

if (!hasWrk()) {
  console.log('not measured: wrk is not installed (Debian: apt-get install wrk)');
  process.exit(0);
}

const service = await startChild<ReportedService>('rest/service');
const { url, forgetfulUrl, key, creditsPerMinute, databaseUrl } = service.report;
const hello = await startChild<string>('rest/hello');
const bare = await startChild<string>('rest/bare', url, key, ...PREPARED);
const fastify = await startChild<string>('rest/fastify', url + SAME_BYTES);
console.log(`with an API key of ${creditsPerMinute} credits a minute`);
const pool = new pg.Pool({ connectionString: databaseUrl });
// The state in which autovacuum leaves a store that is some minutes old.
await pool.query('VACUUM ANALYZE');
const points = await Promise.all(POINT_READS.map(async (point) => ({ point, keys: await keysOf(pool, CHAIN, point) })));
const loadPoints = (server: string, { path }: PointRead, keys: readonly string[]) =>
  load(
    server,
    key,
    seconds,
    keys.map((each) => path.replace(':key', each)),
  );

/** Each subject runs right after its baseline, round by round, so that other load on the machine affects both alike. */
interface Comparison {
  readonly report: string;
  readonly baseline: () => Promise<number>;
  readonly subjects: Readonly<Record<string, () => Promise<number>>>;
}

const loadPrepared = (path: string) => () => load(url + path, key, seconds);
const comparisons: readonly Comparison[] = [
  ...PREPARED.map((path) => ({
    report: HELLO,
    baseline: () => load(hello.report, key, seconds),
    subjects: { [path]: loadPrepared(path) },
  })),
  ...PREPARED.map((path) => ({
    report: BARE,
    baseline: () => load(bare.report + path, key, seconds),
    subjects: { [path]: loadPrepared(path) },
  })),
  {
    report: 'fastify',
    baseline: () => load(fastify.report, key, seconds),
    subjects: { [SAME_BYTES]: loadPrepared(SAME_BYTES) },
  },
  ...points.map(({ point, keys }) => ({
    report: `${point.selects.length} bare select${point.selects.length > 1 ? 's' : ''}`,
    baseline: () => bareSelects(pool, CHAIN, point, keys, seconds),
    subjects: {
      [point.path]: () => loadPoints(forgetfulUrl, point, keys),
      [`${point.path} kept`]: () => loadPoints(url, point, keys),
    },
  })),
  ...points.map(({ point, keys }) => ({
    report: SEVERAL,
    baseline: () => selectsBySeveral(databaseUrl, CHAIN, point, seconds),
    subjects: { [point.path]: () => loadPoints(forgetfulUrl, point, keys) },
  })),
];

/** Requests per second, one entry per round. */
const measured = new Map<string, { readonly rate: number; readonly base: number }[]>();
const reports = new Map<string, string>();
const labelOf = (name: string, report: string) => `× ${report.padEnd(15)} ${name}`;
try {
  // The first round only warms up the code.
  for (let round = 0; round <= rounds; round++) {
    for (const { report, baseline, subjects } of comparisons) {
      const base = await baseline();
      for (const [name, measure] of Object.entries(subjects)) {
        const rate = await measure();
        const label = labelOf(name, report);
        reports.set(label, report);
        if (round > 0) measured.set(label, [...(measured.get(label) ?? []), { rate, base }]);
      }
    }
  }
} finally {
  await pool.end();
  for (const child of [hello, bare, fastify, service]) child.kill();
}
for (const [label, values] of measured) {
  const rate = median(values.map((value) => value.rate)).toFixed(0);
  const base = median(values.map((value) => value.base)).toFixed(0);
  const ratio = median(values.map((value) => value.rate / value.base)).toFixed(2);
  console.log(`${rate.padStart(9)} /s  ${ratio.padStart(5)} ${label} (baseline ${base} /s)`);
}
for (const [report, least] of Object.entries(LEAST)) {
  const ratios = [...measured].flatMap(([label, values]) =>
    reports.get(label) === report ? [median(values.map(({ rate, base }) => rate / base))] : [],
  );
  console.log(`the least × ${report}: ${atLeast(Math.min(...ratios), least)}`);
}
