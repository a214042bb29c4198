/**
 * One import of a thousand transfers, an identity of ten thousand updates, an address of a million deltas: memory while they are derived,
 * against the memory before them; and the last page of each list of the API against its first page.
 * node benchmarks/big-cases.bench.ts [deltas = 1000000] [updates = 10000] [transfers = 1000]
 */
import type { Stores } from '../infra/stores.ts';
import { blockRecord } from '../test/laws/chain-records.ts';
import { createTestLog, deriveToEnd, type TestLog } from '../test/laws/replay.ts';
import { createTestStores } from '../test/support/infra/test-stores.ts';
import { type BigChain, BUSY_ADDRESS, createBigChain } from './big-cases/big-chain.ts';
import { pageTimes } from './big-cases/pages.ts';
import { startMemorySamples } from './memory-samples.ts';
import { serveStores } from './serve-stores.ts';

const CHAIN = 'vrsc';
const SEED = 20261121;
/** Blocks of a thousand transactions are large, so only a few are kept in memory. */
const APPEND = 20;
/**
 * The late memory and the last page may take this many times the early memory and the first page; a page this many milliseconds slower is
 * noise.
 */
const MOST_TIMES = 2;
const MOST_MORE_MS = 10;

const [deltas = 1_000_000, updates = 10_000, transfers = 1000] = process.argv.slice(2).map(Number);

const log = await createTestLog();
const stores = await createTestStores();
try {
  const big = createBigChain(SEED, { deltas, updates, transfers });
  const blocks = await fill(log, big);
  const samples = startMemorySamples();
  const started = performance.now();
  await deriveToEnd(CHAIN, { log, stores });
  const seconds = (performance.now() - started) / 1000;
  const memory = samples.stop();
  const ratio = Number((memory.late / memory.early).toFixed(2));
  console.log(JSON.stringify({ benchmark: 'big-cases', case: 'derive', seed: SEED, blocks, seconds, memory, ratio }));
  if (ratio > MOST_TIMES) process.exitCode = 1;
  await measureLists(big, stores);
} finally {
  await stores.close();
  await log.drop();
}

async function fill(into: TestLog, { blocks }: BigChain): Promise<number> {
  let made = 0;
  let some: ReturnType<typeof blockRecord>[] = [];
  for (const block of blocks) {
    made++;
    some.push(blockRecord(block));
    if (some.length < APPEND) continue;
    await into.append(CHAIN, some);
    some = [];
  }
  await into.append(CHAIN, some);
  return made;
}

async function measureLists(big: BigChain, from: Stores): Promise<void> {
  const { identity, basket } = big.subjects();
  const inOneImport = await from.postgres.pool.query<{ count: bigint }>(
    'SELECT count(*) FROM transfers WHERE chain = $1 AND to_height IS NULL AND import_txid IS NOT NULL GROUP BY import_txid ORDER BY 1 DESC LIMIT 1',
    [CHAIN],
  );
  if (Number(inOneImport.rows[0]?.count ?? 0) < transfers) throw new Error(`no import executes ${transfers} transfers`);
  const api = await serveStores({ chain: CHAIN, log, stores: from });
  const lists = {
    'transfers of an import': { path: `/api/conversions/?basket=${basket}`, least: transfers },
    'transfers to an address': { path: `/api/address/${BUSY_ADDRESS}/conversions`, least: transfers },
    'updates of an identity': { path: `/api/identity/${identity}/changes`, least: updates },
    'deltas of an address': { path: `/api/address/${BUSY_ADDRESS}`, least: deltas },
  };
  try {
    for (const [list, { path, least }] of Object.entries(lists)) {
      const times = await pageTimes(`http://127.0.0.1:${api.port}${path}`);
      const { rows, pages, first, last } = times;
      const ratio = Number((last / first).toFixed(2));
      console.log(
        JSON.stringify({ benchmark: 'big-cases', case: list, rows, pages, firstMs: first, lastMs: last, ratio }),
      );
      if (rows < least) throw new Error(`${path} lists ${rows} rows of ${least}`);
      if (last > MOST_TIMES * first && last > first + MOST_MORE_MS) process.exitCode = 1;
    }
  } finally {
    await api.close();
  }
}
