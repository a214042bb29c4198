/**
 * A first sync of small blocks, against the rate at which the daemon serves eight bare connections in the same run: the tailer alone on the
 * embedded log, and the whole service (tail, derive, price). First with a daemon that spends 330 µs on a block, like a verusd, then with one
 * that spends nothing. With fewer blocks the run ends before V8 has compiled the code of a sync: at 6,000 blocks, each costs half as much
 * again (decision 0113).
 * node benchmarks/first-sync.bench.ts [blocks = 20000] [rounds = 1]
 */
import { availableParallelism } from 'node:os';
import { pino } from 'pino';
import { Pool } from 'undici';
import { runStages } from '../commands/run-stages.ts';
import { createTopicReader } from '../infra/event-log/topic-reader.ts';
import { createVerusdClient } from '../infra/verusd/verusd-client.ts';
import { createStageReporter } from '../pipeline/stage/stage-reporter.ts';
import { runTailer } from '../pipeline/tailer/run-tailer.ts';
import type { StageStatus } from '../schemas/stage-status.ts';
import type { ReportingStage } from '../schemas/stages.ts';
import { configOf } from '../test/api/running-service.ts';
import { chainConfig, createTestLog } from '../test/laws/replay.ts';
import { createTestStores } from '../test/support/infra/test-stores.ts';
import { commandLine, count, descendants } from './processes.ts';
import { type ReadyDaemon, startReadyDaemon } from './ready-daemon/ready-daemon.ts';
import { atLeast, median } from './verdict.ts';

const CHAIN = 'vrsc';
const CONNECTIONS = 8;
/** Measured on a verusd with small blocks and eight connections. */
const VERUSD_MICROS = 330;
const logger = pino({ level: 'silent' });
const [blocks = 20_000, rounds = 1] = process.argv.slice(2).map(Number);

interface Sync {
  readonly seconds: number;
  /** CPU seconds by process. */
  readonly cpu: ReadonlyMap<string, number>;
}

type Side = (daemon: ReadyDaemon) => Promise<Sync>;

const SPENDERS = ['program', 'ClickHouse', 'Postgres', 'daemon'] as const;

function spenderOf(command: string): (typeof SPENDERS)[number] {
  if (command.includes('engine-process')) return 'ClickHouse';
  return command.includes('ready-daemon') ? 'daemon' : 'Postgres';
}

function spentSoFar(): ReadonlyMap<string, number> {
  const spent = new Map<string, number>([['program', count([process.pid]).cpu]]);
  for (const pid of descendants(process.pid)) {
    const name = spenderOf(commandLine(pid));
    spent.set(name, (spent.get(name) ?? 0) + count([pid]).cpu);
  }
  return spent;
}

/** Measures from now until `work` is done. */
async function timed(work: Promise<unknown>): Promise<Sync> {
  const [began, before] = [performance.now(), spentSoFar()];
  await work;
  const seconds = (performance.now() - began) / 1000;
  return { seconds, cpu: new Map(Array.from(spentSoFar(), ([name, now]) => [name, now - (before.get(name) ?? 0)])) };
}

/** Eight connections that each request the next block as soon as one arrives, and drop the bytes. */
async function bare({ chains }: ReadyDaemon): Promise<Sync> {
  const [chain] = chains;
  const pool = new Pool(new URL(chain?.rpc ?? '').origin, { connections: CONNECTIONS });
  let next = 0;
  const connection = async () => {
    while (next < blocks) {
      const body = JSON.stringify({ jsonrpc: '1.0', id: next, method: 'getblock', params: [String(next++), 2] });
      const reply = await pool.request({ path: '/', method: 'POST', body });
      await reply.body.arrayBuffer();
    }
  };
  const fetched = await timed(Promise.all(Array.from({ length: CONNECTIONS }, connection)));
  await pool.destroy();
  return fetched;
}

async function until(isThere: () => boolean): Promise<void> {
  while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function tailer({ chains }: ReadyDaemon): Promise<Sync> {
  const log = await createTestLog();
  const chain = { ...chainConfig(CHAIN), rpc: chains[0]?.rpc ?? '' };
  const client = createVerusdClient({ rpc: chain.rpc, chain: CHAIN, logger });
  const stop = new AbortController();
  let height = -1;
  const status = (now: StageStatus) => {
    height = now.height ?? -1;
  };
  const synced = timed(until(() => height >= blocks - 1));
  const running = runTailer({ chain, client, log, logger, status, signal: stop.signal });
  const sync = await synced;
  stop.abort();
  await running;
  await client.close();
  await log.drop();
  return sync;
}

async function allStages({ chains }: ReadyDaemon): Promise<Sync> {
  const log = await createTestLog();
  const stores = await createTestStores();
  const config = configOf([{ ...chainConfig(CHAIN), rpc: chains[0]?.rpc ?? '' }]);
  const daemons = new Map([[CHAIN, createVerusdClient({ rpc: chains[0]?.rpc ?? '', chain: CHAIN, logger })]]);
  const stored = createStageReporter(stores.postgres, logger);
  const heights = new Map<ReportingStage, number>();
  const reporter = {
    ...stored,
    report(stage: ReportingStage, chain: string, status: StageStatus) {
      heights.set(stage, status.height ?? -1);
      stored.report(stage, chain, status);
    },
  };
  const stop = new AbortController();
  const synced = timed(until(() => (heights.get('price') ?? -1) >= blocks - 1));
  const stages = runStages({
    config,
    stores,
    log,
    topics: createTopicReader(log),
    daemons,
    reporter,
    logger,
    signal: stop.signal,
  });
  const sync = await synced;
  stop.abort();
  await stages;
  await stored.close();
  for (const client of daemons.values()) await client.close();
  await stores.close();
  await log.drop();
  return sync;
}

const rateOf = (syncs: readonly Sync[]) => blocks / median(syncs.map(({ seconds }) => seconds));

/** Prints the CPU that each process spent on a block, and the share of the machine: a sync that uses all cores cannot go faster without using less CPU. */
function showCpu(syncs: readonly Sync[]): void {
  const named = SPENDERS.map((name) => {
    const micros = median(syncs.map(({ cpu }) => (cpu.get(name) ?? 0) * 1e6)) / blocks;
    return { name, micros };
  }).filter(({ micros }) => micros >= 1);
  const shares = syncs.map(({ seconds, cpu }) => Array.from(cpu.values()).reduce((a, b) => a + b, 0) / seconds);
  const spent = named.map(({ name, micros }) => `${name} ${micros.toFixed(0)}`).join(', ');
  console.log(`    CPU µs a block: ${spent}; ${median(shares).toFixed(2)} of ${availableParallelism()} cores`);
}

async function compare(spendMicros: number, sides: readonly (readonly [string, Side, least: number | null])[]) {
  const options = { blocks, shown: blocks - 1, transactions: 3, mix: 'payments' } as const;
  const daemon = await startReadyDaemon({ names: [CHAIN], ...options, spendMicros });
  try {
    await bare(daemon);
    const floors: Sync[] = [];
    const syncs = sides.map(() => [] as Sync[]);
    for (let round = 0; round < rounds; round += 1) {
      floors.push(await bare(daemon));
      for (const [index, [, side]] of sides.entries()) syncs[index]?.push(await side(daemon));
      floors.push(await bare(daemon));
    }
    const floor = rateOf(floors);
    console.log(
      `a daemon that spends ${spendMicros} µs a block gives ${CONNECTIONS} bare connections ${floor.toFixed(0)} blocks/s`,
    );
    showCpu(floors);
    for (const [index, [title, , least]] of sides.entries()) {
      const rate = rateOf(syncs[index] ?? []);
      const share = least === null ? (rate / floor).toFixed(2) : atLeast(rate / floor, least);
      console.log(`  ${title}: ${rate.toFixed(0)} blocks/s, of it ${share}`);
      showCpu(syncs[index] ?? []);
    }
  } finally {
    daemon.end();
  }
}

await compare(VERUSD_MICROS, [
  ['tailer alone', tailer, 0.95],
  ['tailer, derive and price', allStages, 0.6],
]);
await compare(0, [
  ['tailer alone', tailer, 0.5],
  ['tailer, derive and price', allStages, null],
]);
process.exit();
