/**
 * Measures CPU time, wake-ups, SQL transactions and memory of the idle service: one chain without new blocks, embedded stores, no requests.
 * Another process plays the recording as the daemon.
 * node benchmarks/idle.bench.ts [seconds = 40] [seconds of rest before = 30]
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DEMO_CHAIN } from '../infra/config/chain-defaults.ts';
import { freePort } from '../infra/free-port.ts';
import { createClient } from '../infra/postgres/typed-client.ts';
import { between, commandLine, count, descendants, proportionalMb, residentMb, withEngine } from './processes.ts';
import { atMost } from './verdict.ts';

const PROGRAM = fileURLToPath(new URL('../infra/launch/run.mjs', import.meta.url));
const MOST = { percent: 2, mb: 400 };
const BLOCK_SECONDS = '0.002';
const [seconds = 40, restSeconds = 30] = process.argv.slice(2).map(Number);

const folder = mkdtempSync(join(tmpdir(), 'verustream-idle-'));
const [port, daemonPort] = [await freePort(), await freePort()];
const rpc = `http://bench:bench@127.0.0.1:${daemonPort}`;
const configFile = join(folder, 'config.json');
writeFileSync(configFile, JSON.stringify({ chains: [{ ...DEMO_CHAIN, rpc }] }));

function start(name: string, ...args: readonly string[]) {
  const env = { ...process.env, VERUSTREAM_CONFIG: configFile, DATA_DIR: join(folder, name), PORT: String(port) };
  const child = spawn(process.execPath, [PROGRAM, 'verustream.ts', ...args], {
    env: { ...env, LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  return {
    pid: child.pid ?? 0,
    async end() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

interface Status {
  readonly chains: Readonly<Record<string, { readonly indexedHeight: number | null }>>;
}

/** Returns null while the service does not answer. */
async function indexedHeight(): Promise<number | null> {
  try {
    const reply = await fetch(`http://127.0.0.1:${port}/api/stats/status`);
    const { chains } = (await reply.json()) as Status;
    return chains[DEMO_CHAIN.name]?.indexedHeight ?? null;
  } catch {
    return null;
  }
}

async function untilHeight(height: number): Promise<void> {
  while (((await indexedHeight()) ?? -1) < height) await sleep(500);
}

/** Returns the transactions of all databases, over a connection that is open only for this query. */
async function transactions(): Promise<number> {
  const postgres = join(folder, 'service/postgres');
  const [, , database, user, password] = readFileSync(join(postgres, 'verustream.pgpass'), 'utf8').trim().split(':');
  const client = createClient(
    { host: postgres, user, password, database: database === '*' ? 'verustream' : database },
    { connectMs: null, statementMs: null, silentMs: null },
  );
  await client.connect();
  const { rows } = await client.query<{ count: string }>(
    'SELECT sum(xact_commit + xact_rollback)::text AS count FROM pg_stat_database',
  );
  await client.end();
  return Number(rows[0]?.count);
}

const daemon = start('daemon', 'play-recording', BLOCK_SECONDS);
const service = start('service', 'start');
try {
  const tip = 1551;
  await untilHeight(tip);
  await sleep(restSeconds * 1000);
  const program = descendants(service.pid).find((pid) => commandLine(pid).includes('verustream.ts')) ?? 0;
  const ownProcesses = () => withEngine(program);
  const postgresProcesses = () => descendants(program).filter((pid) => !ownProcesses().includes(pid));
  const before = {
    own: count(ownProcesses()),
    rest: count(postgresProcesses()),
    transactions: await transactions(),
    at: performance.now(),
  };
  await sleep(seconds * 1000);
  const took = (performance.now() - before.at) / 1000;
  const own = between(before.own, count(ownProcesses()));
  const others = between(before.rest, count(postgresProcesses()));
  const statements = (await transactions()) - before.transactions;
  const load = (own.cpu + others.cpu) / took;
  const { now, peak } = residentMb(ownProcesses());
  const percent = (cpu: number) => `${((cpu / took) * 100).toFixed(2)} % of a core`;
  console.log(`idle for ${took.toFixed(0)} s: ${atMost(load * 100, MOST.percent, ' %')} of a core`);
  console.log(
    `  the program with its ClickHouse: ${percent(own.cpu)}, ${(own.wakeUps / took).toFixed(1)} wake-ups a second`,
  );
  console.log(`  Postgres: ${percent(others.cpu)}, ${(others.wakeUps / took).toFixed(1)} wake-ups a second`);
  console.log(`  SQL transactions: ${(statements / took).toFixed(1)} a second`);
  console.log(`  memory: ${atMost(now, MOST.mb, ' MB')}; ${peak.toFixed(0)} MB at the peaks of both`);
  console.log(`  memory of Postgres: ${proportionalMb(postgresProcesses()).toFixed(0)} MB`);
} finally {
  await Promise.all([service.end(), daemon.end()]);
  rmSync(folder, { recursive: true });
}
