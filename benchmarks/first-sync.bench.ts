/**
 * A first sync of small blocks, against what the daemon delivers to eight bare connections in the same run: the tailer alone on the
 * embedded log, and the whole service (tail, derive, price). Once from a daemon that spends 330 µs on a block, as a verusd does, once
 * from one that spends nothing.
 * Fewer blocks are over before V8 has compiled what a sync runs: 6,000 cost half as much again, each (decision 0113).
 * node benchmarks/first-sync.bench.ts [blocks = 20000] [rounds = 1]
 */
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
import { type ReadyDaemon, startReadyDaemon } from './ready-daemon/ready-daemon.ts';
import { atLeast, median } from './verdict.ts';

const CHAIN = 'vrsc';
const CONNECTIONS = 8;
/** As measured on a verusd: small blocks, eight connections. */
const VERUSD_MICROS = 330;
const logger = pino({ level: 'silent' });
const [blocks = 20_000, rounds = 1] = process.argv.slice(2).map(Number);

type Rate = (daemon: ReadyDaemon) => Promise<number>;

/** Eight connections, each with the next block as soon as it has one; the bytes are dropped. */
async function bare({ chains }: ReadyDaemon): Promise<number> {
  const [chain] = chains;
  const pool = new Pool(new URL(chain?.rpc ?? '').origin, { connections: CONNECTIONS });
  const began = performance.now();
  let next = 0;
  const connection = async () => {
    while (next < blocks) {
      const body = JSON.stringify({ jsonrpc: '1.0', id: next, method: 'getblock', params: [String(next++), 2] });
      const reply = await pool.request({ path: '/', method: 'POST', body });
      await reply.body.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  const seconds = (performance.now() - began) / 1000;
  await pool.destroy();
  return blocks / seconds;
}

/** Resolves with the seconds until `isThere`. */
async function until(began: number, isThere: () => boolean): Promise<number> {
  while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 20));
  return (performance.now() - began) / 1000;
}

async function tailer({ chains }: ReadyDaemon): Promise<number> {
  const log = await createTestLog();
  const chain = { ...chainConfig(CHAIN), rpc: chains[0]?.rpc ?? '' };
  const client = createVerusdClient({ rpc: chain.rpc, chain: CHAIN, logger });
  const stop = new AbortController();
  let height = -1;
  const status = (now: StageStatus) => {
    height = now.height ?? -1;
  };
  const began = performance.now();
  const running = runTailer({ chain, client, log, logger, status, signal: stop.signal });
  const seconds = await until(began, () => height >= blocks - 1);
  stop.abort();
  await running;
  await client.close();
  await log.drop();
  return blocks / seconds;
}

async function allStages({ chains }: ReadyDaemon): Promise<number> {
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
  const began = performance.now();
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
  const seconds = await until(began, () => (heights.get('price') ?? -1) >= blocks - 1);
  stop.abort();
  await stages;
  await stored.close();
  for (const client of daemons.values()) await client.close();
  await stores.close();
  await log.drop();
  return blocks / seconds;
}

async function compare(spendMicros: number, sides: readonly (readonly [string, Rate, least: number | null])[]) {
  const options = { blocks, shown: blocks - 1, transactions: 3, mix: 'payments' } as const;
  const daemon = await startReadyDaemon({ names: [CHAIN], ...options, spendMicros });
  try {
    await bare(daemon);
    const floors: number[] = [];
    const rates = sides.map(() => [] as number[]);
    for (let round = 0; round < rounds; round += 1) {
      floors.push(await bare(daemon));
      for (const [index, [, rate]] of sides.entries()) rates[index]?.push(await rate(daemon));
      floors.push(await bare(daemon));
    }
    const floor = median(floors);
    console.log(
      `a daemon that spends ${spendMicros} µs a block gives ${CONNECTIONS} bare connections ${floor.toFixed(0)} blocks/s`,
    );
    for (const [index, [title, , least]] of sides.entries()) {
      const ratio = median(rates[index] ?? []) / floor;
      const share = least === null ? ratio.toFixed(2) : atLeast(ratio, least);
      console.log(`  ${title}: ${median(rates[index] ?? []).toFixed(0)} blocks/s, of it ${share}`);
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
