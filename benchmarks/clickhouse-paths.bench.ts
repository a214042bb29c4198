/**
 * Latency of every REST path that reads ClickHouse, computed again for each request while a block per second arrives, against its bare
 * statements and against a tenth of the history; then point reads over both histories, and both ends of long lists. wrk generates the load.
 * node benchmarks/clickhouse-paths.bench.ts [conversions = 200000] [seconds per measurement = 2] [conversions also in Postgres = all]
 */

import { pino } from 'pino';
import { startApi } from '../api/server.ts';
import type { ClickHouse } from '../infra/clickhouse/clickhouse.ts';
import { createTopicReader } from '../infra/event-log/topic-reader.ts';
import { createVerusdClient } from '../infra/verusd/verusd-client.ts';
import { configOf } from '../test/api/running-service.ts';
import { chainConfig, createTestLog } from '../test/laws/replay.ts';
import { createTestStores } from '../test/support/infra/test-stores.ts';
import { walkPages } from './big-cases/pages.ts';
import { makeCurrentState, moveOn, txidOf } from './clickhouse-paths/current-state.ts';
import { type BenchmarkHistory, makeHistory } from './clickhouse-paths/history.ts';
import { latencyOf } from './clickhouse-paths/latency.ts';
import { bare, recordStatements, type Statements } from './clickhouse-paths/statements.ts';
import { CHAINS } from './reprocess/made-conversions.ts';
import { hasWrk } from './wrk.ts';

const [conversions = 200_000, seconds = 2, inPostgres = conversions] = process.argv.slice(2).map(Number);
const LOAD = { seconds, connections: 8 };
const BLOCK_EVERY_MS = 1000;
/** The two ends of a list, and a point read over ten times the history, may differ by this factor. */
const MOST_TIMES = 2;
/** The service cancels a statement after ten seconds and answers 503. */
const MOST_MS = 10_000;
const SMALL = 10;

const PATHS = [
  '/api/market/protocol',
  '/api/market/overview',
  '/api/market/currencies',
  '/api/market/pairs',
  '/api/market/baskets',
  '/api/market/volume?period=daily',
  '/api/market/volume?period=monthly',
  '/api/market/baskets/i10/volume?days=365',
  '/api/market/baskets/i10/reserves?days=7',
  '/api/market/baskets/i10/reserves?days=3650',
  '/api/market/prices/i11/history?days=30',
  '/api/market/prices/i11/history?days=365',
  '/api/market/pairs/i10/i1/i0/candles?step=5m',
  '/api/market/pairs/i10/i1/i0/candles?step=1d',
  '/api/market/prices/i11/candles?step=5m',
  '/api/market/prices/i11/candles?step=1d',
  '/api/tickers/coingecko',
  '/api/oracle/prices/i11',
  '/api/oracle/prices/i11/history?limit=1000',
  '/api/stats/',
  '/api/stats/charts?metric=difficulty&period=all',
  '/api/stats/charts?metric=transactions&period=30d',
  '/api/stats/charts?metric=conversions&period=all',
  '/api/stats/status',
  '/api/stats/network/100',
];
/** The filters keep a third, a few hundredths, few, and most of the conversions in a span. */
const LISTS = [
  '/api/conversions/',
  '/api/blocks/',
  '/api/conversions/?minUsd=5000',
  '/api/conversions/?basket=i10&minUsd=100',
  '/api/conversions/?minUsd=17000',
  '/api/conversions/?minUsd=100&fromTime=1702000000',
];

interface Served {
  readonly url: string;
  readonly history: BenchmarkHistory;
  readonly clickhouse: ClickHouse;
  /** The statements that a newly computed answer sends to ClickHouse. @throws when there are none */
  statements(path: string): Promise<Statements>;
  close(): Promise<void>;
}

async function serve(count: number, listed: number): Promise<Served> {
  const stores = await createTestStores();
  const began = performance.now();
  const history = await makeHistory(stores, count);
  await makeCurrentState(stores.postgres, history, listed);
  console.log(
    `${count} conversions, ${history.height + 1} blocks a chain: ${((performance.now() - began) / 1000).toFixed(0)} s`,
  );
  const chains = CHAINS.map((name) => ({ ...chainConfig(name), stableAnchors: ['i0'] }));
  const log = await createTestLog();
  const logger = pino({ level: 'silent' });
  const recorder = recordStatements(stores.clickhouse);
  const api = await startApi({
    config: { ...configOf(chains), cutover: 0 },
    release: 'benchmark',
    stores: { ...stores, clickhouse: recorder.clickhouse },
    topics: createTopicReader(log),
    // No daemon listens there.
    daemons: new Map(
      CHAINS.map((chain) => [chain, createVerusdClient({ rpc: 'http://a:b@127.0.0.1:1', chain, logger })]),
    ),
    logger,
    signal: new AbortController().signal,
    keptBytes: 0,
  });
  const url = `http://127.0.0.1:${api.port}`;
  const blocks = setInterval(() => void moveOn(stores.postgres), BLOCK_EVERY_MS);
  const ask = async (path: string) => {
    const answer = await fetch(url + path);
    if (!answer.ok) throw new Error(`${path} answers ${answer.status}: ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  async function statements(path: string): Promise<Statements> {
    await moveOn(stores.postgres);
    const sent = await recorder.during(() => ask(path));
    if (sent.length === 0) throw new Error(`${path} asks ClickHouse nothing`);
    return sent;
  }
  return {
    url,
    history,
    clickhouse: stores.clickhouse,
    statements,
    async close() {
      clearInterval(blocks);
      await api.close();
      await stores.close();
      await log.drop();
    },
  };
}

const milliseconds = (value: number) => value.toFixed(1).padStart(8);
const times = (value: number) => value.toFixed(2).padStart(6);
const line = (name: string, columns: readonly string[]) => console.log(name.padEnd(52) + columns.join('  '));

async function measurePaths(small: Served, full: Served): Promise<void> {
  // Recorded before the load starts, each as if a block had arrived before it.
  const statements = new Map<string, Statements>();
  for (const path of PATHS) statements.set(path, await full.statements(path));
  line('path', ['   p50 ms', '  p99 ms', 'bare p50', 'bare p99', '× bare (p99)', '× a tenth (p50)']);
  for (const path of PATHS) {
    const before = await latencyOf(small.url + path, LOAD);
    const own = await latencyOf(full.url + path, LOAD);
    const alone = await bare(full.clickhouse, statements.get(path) ?? [], seconds);
    const columns = [own.p50, own.p99, alone.p50, alone.p99].map(milliseconds);
    line(path, [...columns, times(own.p99 / alone.p99), times(own.p50 / before.p50)]);
    if (own.p99 > MOST_MS) process.exitCode = 1;
  }
}

async function measurePoints(small: Served, full: Served): Promise<void> {
  line('\npoint read', ['   p50 ms', '  p99 ms', '× a tenth (p50)']);
  for (const path of [
    '/api/blocks/100',
    `/api/oracle/conversions/${txidOf(101)}`,
    '/api/stats/network/100',
    '/api/currency/i10',
  ]) {
    const before = await latencyOf(small.url + path, LOAD);
    const own = await latencyOf(full.url + path, LOAD);
    const ratio = own.p50 / before.p50;
    line(path, [milliseconds(own.p50), milliseconds(own.p99), times(ratio)]);
    if (ratio > MOST_TIMES) process.exitCode = 1;
  }
}

async function measureLists({ url }: Served): Promise<void> {
  line('\nlist', ['    rows', '   pages', 'first ms', ' last ms', '× first (p50)']);
  for (const path of LISTS) {
    const { rows, pages, first, last } = await walkPages(url + path);
    const [atFirst, atLast] = [await latencyOf(first, LOAD), await latencyOf(last, LOAD)];
    const ratio = atLast.p50 / atFirst.p50;
    line(path, [
      String(rows).padStart(8),
      String(pages).padStart(8),
      milliseconds(atFirst.p50),
      milliseconds(atLast.p50),
      times(ratio),
    ]);
    if (ratio > MOST_TIMES) process.exitCode = 1;
  }
}

if (!hasWrk()) {
  console.log('not measured: wrk is not installed (Debian: apt-get install wrk)');
  process.exit(0);
}
const small = await serve(Math.ceil(conversions / SMALL), Math.ceil(inPostgres / SMALL));
const full = await serve(conversions, inPostgres);
try {
  await measurePaths(small, full);
  await measurePoints(small, full);
  await measureLists(full);
} finally {
  await full.close();
  await small.close();
}
