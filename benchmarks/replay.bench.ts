/**
 * Replay of a log into both stores against a naive script that writes the same rows, in the same run.
 * node benchmarks/replay.bench.ts [blocks = 100000] [rounds = 1]
 */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stores } from '../infra/stores.ts';
import { type Digests, storeDigests } from '../pipeline/verify/store-digests.ts';
import { createChain } from '../test/generator/chain.ts';
import { PLAIN_PAYMENTS } from '../test/generator/mixes.ts';
import { blockRecord } from '../test/laws/chain-records.ts';
import { createTestLog, deriveToEnd, NATIVE, type TestLog } from '../test/laws/replay.ts';
import { createTestStores } from '../test/support/infra/test-stores.ts';
import { startMemorySamples } from './replay/memory-samples.ts';
import { runNaiveScript } from './replay/naive-script.ts';

const CHAIN = 'payments';
const SEED = 20261121;
const APPEND = 1000;

interface Measured {
  readonly seconds: number;
  readonly digests: Digests;
  readonly memory: { readonly peak: number; readonly early: number; readonly late: number };
}

const blocks = Number(process.argv[2] ?? 100_000);
const rounds = Number(process.argv[3] ?? 1);

const log = await createTestLog();
try {
  const bytes = await fill(log);
  for (let round = 0; round < rounds; round++) {
    // Who comes first changes: neither is always the one that finds warm caches.
    const order = round % 2 === 0 ? [derive, naive] : [naive, derive];
    const results = new Map<typeof derive, Measured>();
    for (const run of order) results.set(run, await measured(run));
    print(round, bytes, results.get(derive), results.get(naive));
  }
} finally {
  await log.drop();
}

async function fill(into: TestLog): Promise<number> {
  const chain = createChain({ seed: SEED, addresses: 20_000, transactions: 4, mix: PLAIN_PAYMENTS });
  let bytes = 0;
  for (let made = 0; made < blocks; made += APPEND) {
    const some = Array.from({ length: Math.min(APPEND, blocks - made) }, () => chain.next());
    bytes += some.reduce((sum, { text }) => sum + text.length, 0);
    await into.append(CHAIN, some.map(blockRecord));
  }
  return bytes;
}

async function derive(stores: Stores): Promise<void> {
  await deriveToEnd(CHAIN, { log, stores });
}

async function naive(stores: Stores): Promise<void> {
  await runNaiveScript(log, stores, CHAIN, NATIVE);
}

async function measured(run: (stores: Stores) => Promise<void>): Promise<Measured> {
  const stores = await createTestStores();
  try {
    globalThis.gc?.();
    await sleep(1000);
    const samples = startMemorySamples();
    const started = performance.now();
    await run(stores);
    const seconds = (performance.now() - started) / 1000;
    const memory = samples.stop();
    return { seconds, memory, digests: await storeDigests(stores) };
  } finally {
    await stores.close();
  }
}

function print(round: number, bytes: number, subject: Measured | undefined, baseline: Measured | undefined): void {
  if (!subject || !baseline) throw new TypeError('a run is missing');
  const tables = Object.entries(subject.digests);
  const different = tables.filter(([table, { digest }]) => baseline.digests[table]?.digest !== digest);
  const rows = tables.reduce((sum, [, table]) => sum + table.rows, 0);
  const perSecond = (count: number, { seconds }: Measured) => Math.round(count / seconds);
  console.log(
    JSON.stringify({
      benchmark: 'replay',
      round,
      seed: SEED,
      blocks,
      megabytes: Math.round(bytes / 1e6),
      rows,
      ratio: Number((baseline.seconds / subject.seconds).toFixed(3)),
      derive: {
        blocksPerSecond: perSecond(blocks, subject),
        rowsPerSecond: perSecond(rows, subject),
        memory: subject.memory,
      },
      naive: {
        blocksPerSecond: perSecond(blocks, baseline),
        rowsPerSecond: perSecond(rows, baseline),
        memory: baseline.memory,
      },
      loadAverage: loadavg()[0],
      node: process.version,
      equal: different.length === 0,
    }),
  );
  for (const [table, digest] of different) console.error(table, 'differs', digest, baseline.digests[table]);
  if (different.length > 0) process.exitCode = 1;
}
