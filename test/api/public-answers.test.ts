/** Whatever fails inside, no public answer contains a path, an address, a user or a store's message: these are for the log and `status`. */
import { mkdtempSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { methodOf } from '../../api/http/route.ts';
import { readExamples } from '../../api/openapi/examples.ts';
import { routeTable } from '../../api/rest/route-table.ts';
import { RPC_METHODS } from '../../api/rpc/methods/method-table.ts';
import { connectClickHouse } from '../../infra/clickhouse/server.ts';
import { LogCorrupt, LogStorageFull } from '../../infra/event-log/log-errors.ts';
import { createDaemonGroup } from '../../infra/verusd/daemon-group.ts';
import type { StageReporter } from '../../pipeline/stage/stage-reporter.ts';
import { supervise } from '../../pipeline/stage/supervise.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import type { ReportingStage } from '../../schemas/stages.ts';
import { CHAIN, type RunningService, startService } from './running-service.ts';

/** Fewer requests than may wait for a daemon. */
const AT_ONCE = 8;
const NOWHERE = '127.0.0.1:1';
const logger = pino({ level: 'silent' });
let folder: string;
let service: RunningService;
let inside: readonly string[];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'verustream-inside-'));
  service = await startService();
  await service.settled();
  const daemon = new URL(service.node.url);
  const postgres = new URL(service.stores.databaseUrl);
  inside = [
    ...[tmpdir(), folder, process.cwd(), 'node_modules'],
    ...[daemon.host, `localhost:${daemon.port}`, postgres.host, NOWHERE],
    ...[postgres.pathname.slice(1), `${daemon.username}:${daemon.password}`, `${postgres.username}@`, 'insider'],
    ...['ECONN', 'ENOSPC', 'EACCES', 'getaddrinfo', 'connect E', 'relation "', 'no space left'],
  ];
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Every path of the table with the parameters of its documented example. */
function addresses(): string[] {
  const examples = readExamples();
  return routeTable
    .filter((route) => methodOf(route) === 'GET' && !/\.(js|css)$/.test(route.path)) // these files are by others
    .map(({ path }) => {
      const query = new URLSearchParams();
      let address = path;
      for (const [name, value] of Object.entries(examples[path]?.parameters ?? {})) {
        if (address.includes(`:${name}`)) address = address.replace(`:${name}`, encodeURIComponent(String(value)));
        else query.set(name, String(value));
      }
      return `${address}${query.size > 0 ? `?${query}` : ''}`;
    });
}

const BODIES: readonly [path: string, body: unknown][] = [
  ['/api/auth/challenge', { identity: 'alice@' }],
  ['/api/auth/login', { challengeId: 'x', signature: 'y' }],
  ['/api/keys', { name: 'bot' }],
  ['/api/webhooks', { url: 'https://bot.example/', events: ['block'] }],
];

interface Said {
  readonly from: string;
  readonly status: number;
  readonly text: string;
}

async function read(from: string, answer: Promise<Response>): Promise<Said> {
  const response = await answer;
  const headers = [...response.headers].map((line) => line.join(': ')).join('\n');
  return { from, status: response.status, text: `${headers}\n\n${await response.text()}` };
}

/** The answers of a socket to subscriptions and to nonsense. */
function listen(headers: Record<string, string>): Promise<Said> {
  const socket = new WebSocket(`ws://127.0.0.1:${service.port}/api/ws`, { headers });
  const said: string[] = [];
  socket.onopen = () => {
    socket.send('{');
    socket.send(JSON.stringify({ op: 'subscribe', channels: ['blocks', 'conversions'], cursor: 'AAAA' }));
    socket.send(JSON.stringify({ op: 'subscribe', channels: ['blocks'], chains: ['nowhere'] }));
    socket.send(JSON.stringify({ op: 'ping' }));
  };
  socket.onmessage = ({ data }) => said.push(String(data));
  return new Promise((resolve) => {
    const end = (reason = '') => resolve({ from: '/api/ws', status: 0, text: [...said, reason].join('\n') });
    socket.onclose = ({ reason }) => end(reason);
    socket.onerror = () => end();
    setTimeout(() => socket.close(), 1_000);
  });
}

async function sweep(key: string): Promise<Said[]> {
  const headers = { 'x-api-key': key };
  const get = (path: string) => () => read(path, fetch(service.url + path, { headers }));
  const post = (path: string, asked: unknown) => () => {
    const body = JSON.stringify(asked);
    return read(`${path} ${body}`, fetch(service.url + path, { method: 'POST', headers, body }));
  };
  const questions = [
    () => listen(headers),
    get('/api/stream?channels=blocks&cursor=AAAA'),
    get('/no/path'),
    ...addresses().map(get),
    ...BODIES.map(([path, body]) => post(path, body)),
    ...Object.keys(RPC_METHODS).map((method) => post('/', { id: 1, method, params: [] })),
  ];
  const said: Said[] = [];
  while (questions.length > 0) said.push(...(await Promise.all(questions.splice(0, AT_ONCE).map((ask) => ask()))));
  return said;
}

/** Answers that contain internal words, each with the word. */
const leaks = (said: readonly Said[]) =>
  said.flatMap(({ from, text }) =>
    inside
      .filter((word) => text.includes(word))
      .map(
        (word) => `${from} names ${word}: ${text.slice(Math.max(0, text.indexOf(word) - 80), text.indexOf(word) + 60)}`,
      ),
  );
const statuses = (said: readonly Said[]) => new Set(said.map(({ status }) => status));

/** The real error if nothing listens at the address of a store. */
const failureOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => Promise.reject(new Error('something listens')),
    (error: unknown) => error,
  );

/** The status that the pipeline reports for a stage which fails with this error. */
function failed(stage: ReportingStage, error: unknown): Promise<StageStatus> {
  const stop = new AbortController();
  return new Promise((resolve) => {
    const reporter = {
      report(_stage: ReportingStage, _chain: string, status: StageStatus) {
        stop.abort();
        resolve(status);
      },
    } as StageReporter;
    void supervise({ stage, chains: [CHAIN], run: () => Promise.reject(error), reporter, logger, signal: stop.signal });
  });
}

/** The answer of /api/health/ready once it contains the code. The tailer's last block was long ago, and it reports `status`. */
async function readyNames(code: string, status: Partial<StageStatus> = {}): Promise<Said> {
  const shown = JSON.stringify({ state: 'waiting', ...status, movedAt: '2020-01-01T00:00:00.000Z' });
  for (let tries = 0; tries < 300; tries += 1) {
    const sql = "UPDATE stage_status SET status = status || $1::jsonb WHERE stage = 'tail'";
    await service.stores.postgres.pool.query(sql, [shown]);
    const said = await read('/api/health/ready', fetch(`${service.url}/api/health/ready`));
    if (said.text.includes(code)) return said;
    await sleep(50);
  }
  throw new Error(`/api/health/ready never named ${code}`);
}

it('no internal detail is published', async () => {
  const key = await service.issueKey('pro');
  const found: string[] = [];
  const get = (path: string) => read(path, fetch(service.url + path, { headers: { 'x-api-key': key } }));
  const group = createDaemonGroup({
    rpc: [service.node.url, `http://insider:insider@${NOWHERE}`],
    chain: CHAIN,
    logger,
    timing: { everyMs: 50, timeoutMs: 2000 },
  });
  const healthy = await sweep(key);
  expect(statuses(healthy)).toContain(200);
  found.push(...leaks(healthy));

  service.node.setFaults({ wrongAuth: true });
  const unauthorised = await readyNames('daemon_auth_failed');
  service.node.setFaults({ closeRate: 1 });
  const unreachable = await readyNames('daemon_unreachable');
  const withoutDaemon = await sweep(key);
  expect(statuses(withoutDaemon)).toContain(502);
  found.push(...leaks([...withoutDaemon, unauthorised, unreachable]));
  service.node.setFaults({});

  const file = join(folder, 'log', 'blocks', 'vrsc.sqlite');
  for (const [error, code] of [
    [new LogStorageFull(file), 'log_storage_full'],
    [await failureOf(writeFile(file, '')), 'ENOENT'],
    [new LogCorrupt(`block 5 of ${file} does not match its checksum`), 'log_corrupt'],
  ] as const) {
    const said = await readyNames(code, await failed('tail', error));
    found.push(...leaks([said, await get('/api/health'), await get('/api/stats/status')]));
  }

  const refused = await failureOf(
    new pg.Pool({ connectionString: `postgres://insider@${NOWHERE}/insider` }).query('SELECT 1'),
  );
  const noClickHouse = await failureOf(
    connectClickHouse(`http://insider:insider@${NOWHERE}/insider`, pino({ level: 'silent' })),
  );
  const { postgres, clickhouse } = service.stores;
  const [query, connect, ask] = [postgres.pool.query, postgres.pool.connect, clickhouse.query];
  const fail = (error: unknown) => () => Promise.reject(error);
  await postgres.pool.query(
    'ALTER TABLE blocks RENAME TO blocks_gone; ALTER TABLE identities RENAME TO identities_gone',
  );
  Object.assign(clickhouse, { query: fail(noClickHouse) });
  const withoutTables = await sweep(key);
  expect([...statuses(withoutTables)].filter((status) => status >= 500).sort()).toEqual(
    expect.arrayContaining([500, 503]),
  );
  Object.assign(postgres.pool, { query: fail(refused), connect: fail(refused) });
  const ready = async () => (await get('/api/health/ready')).text;
  await expect.poll(ready).toContain('Postgres does not answer');
  expect(await ready()).toContain('ClickHouse cannot be reached');
  const withoutStores = await sweep(key);
  expect(withoutStores.find(({ from }) => from === '/api/health/ready')?.status).toBe(503);
  Object.assign(postgres.pool, { query, connect });
  Object.assign(clickhouse, { query: ask });
  await postgres.pool.query(
    'ALTER TABLE blocks_gone RENAME TO blocks; ALTER TABLE identities_gone RENAME TO identities',
  );
  await group.close();
  found.push(...leaks([...withoutTables, ...withoutStores]));
  expect(found).toEqual([]);
  expect(healthy.find(({ from }) => from === '/metrics')?.text).toContain(
    'verustream_daemon_healthy{chain="vrsc",daemon="2"} 0',
  );
}, 300_000);
