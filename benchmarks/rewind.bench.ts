/**
 * Reorganisations of ten blocks while derive and price are running: from the record in the log until both stores have reverted the ten
 * blocks, and until the prices have. The baseline is ten new blocks from the log into both stores, in the same run.
 * node benchmarks/rewind.bench.ts [blocks in the stores = 20000] [rewinds = 100]
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { runStages } from '../commands/run-stages.ts';
import { createTopicReader } from '../infra/event-log/topic-reader.ts';
import { readStagePosition } from '../infra/postgres/stage-positions.ts';
import { createVerusdClient } from '../infra/verusd/verusd-client.ts';
import { createStageReporter } from '../pipeline/stage/stage-reporter.ts';
import { configOf } from '../test/api/running-service.ts';
import { createChain } from '../test/generator/chain.ts';
import { PAYMENTS } from '../test/generator/mixes.ts';
import { blockRecord, type UnplacedRecord } from '../test/laws/chain-records.ts';
import { chainConfig, createTestLog } from '../test/laws/replay.ts';
import { createTestStores } from '../test/support/infra/test-stores.ts';
import { percentile } from './percentile.ts';
import { atMost } from './verdict.ts';

const CHAIN = 'vrsc';
const SEED = 20261125;
const DEPTH = 10;
const APPEND = 1000;
const LOOK_MS = 5;
const MOST_SECONDS = 1;
const [blocks = 20_000, rewinds = 100] = process.argv.slice(2).map(Number);

const logger = pino({ level: 'silent' });
const [log, stores] = [await createTestLog(), await createTestStores()];
const { pool } = stores.postgres;
const config = { ...configOf([chainConfig(CHAIN)]), roles: ['derive', 'price'] as const };
const daemons = new Map([[CHAIN, createVerusdClient({ rpc: 'http://127.0.0.1:1', chain: CHAIN, logger })]]);
const reporter = createStageReporter(stores.postgres, logger);
const stop = new AbortController();
const topics = createTopicReader(log);
const stages = runStages({ config, stores, log, topics, daemons, reporter, logger, signal: stop.signal });

const chain = createChain({ seed: SEED, addresses: 1000, transactions: 4, mix: PAYMENTS, rewinds: true });
const more = (count: number) => Array.from({ length: count }, () => blockRecord(chain.next()));

async function until(isThere: () => Promise<boolean>): Promise<void> {
  while (!(await isThere())) await sleep(LOOK_MS);
}

/** Whether the stage has committed the block to both stores; Postgres commits last. */
const isAt = (stage: 'derive' | 'price', height: number) => async () =>
  (await readStagePosition(pool, stage, CHAIN))?.height === height;

/** Seconds until derive, and until price, reach `height`. */
async function timed(records: readonly UnplacedRecord[], height: number) {
  const began = performance.now();
  const since = () => (performance.now() - began) / 1000;
  await log.append(CHAIN, records);
  const derived = until(isAt('derive', height)).then(since);
  const priced = until(isAt('price', height)).then(since);
  return { derived: await derived, priced: await priced };
}

const taken = { rewound: [] as number[], unpriced: [] as number[], added: [] as number[] };
try {
  for (let made = 0; made < blocks; made += APPEND) await log.append(CHAIN, more(Math.min(APPEND, blocks - made)));
  await until(isAt('price', blocks - 1));
  for (let done = 0; done < rewinds; done++) {
    const added = await timed(more(DEPTH), chain.height);
    taken.added.push(added.derived);
    const fromHeight = chain.height;
    const height = fromHeight - DEPTH;
    const hash = chain.rewind(height);
    const rewound = await timed([{ kind: 'rewind', height, hash, fromHeight }], height);
    taken.rewound.push(rewound.derived);
    taken.unpriced.push(rewound.priced);
  }
} finally {
  stop.abort();
  await stages;
  await reporter.close();
  for (const client of daemons.values()) await client.close();
  await stores.close();
  await log.drop();
}

const seconds = (values: readonly number[], share: number) => percentile(values, share).toFixed(3);
const line = (values: readonly number[]) => `p50 ${seconds(values, 0.5)} s, p99 ${seconds(values, 0.99)} s`;
console.log(`${rewinds} times ${DEPTH} blocks, ${blocks} blocks in the stores`);
console.log(`  into both stores (baseline)  ${line(taken.added)}`);
console.log(`  out of both stores           ${line(taken.rewound)}`);
console.log(`  and out of the prices        ${line(taken.unpriced)}`);
console.log(
  `  p50 out, of p50 in: ${(percentile(taken.rewound, 0.5) / percentile(taken.added, 0.5)).toFixed(2)}; p99 out ${atMost(percentile(taken.unpriced, 0.99), MOST_SECONDS, ' s')}`,
);
process.exit();
