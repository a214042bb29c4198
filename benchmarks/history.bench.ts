/**
 * Point reads on a chain and on the same chain ten times as long: the same keys, requested alternately, and the Postgres pages that their
 * statements touch. Work that grows with the history shows as a ratio above 1.
 * node benchmarks/history.bench.ts [blocks = 400] [times = 10]
 */
import type pg from 'pg';
import { recordReaderStatements, type SentStatement } from '../test/api/reader-statements.ts';
import { createChain } from '../test/generator/chain.ts';
import { EVERYTHING } from '../test/generator/mixes.ts';
import { blockRecord, type UnplacedRecord } from '../test/laws/chain-records.ts';
import { createTestLog, deriveToEnd } from '../test/laws/replay.ts';
import { createTestStores } from '../test/support/infra/test-stores.ts';
import { serveStores } from './serve-stores.ts';
import { median } from './verdict.ts';

const CHAIN = 'vrsc';
const SEED = 20261122;
const KEYS = 25;
const ROUNDS = 8;
/** Maximum ratio of pages: allows a tree one level higher, and a row on a page of its own. */
const MOST_PAGES = 1.5;
const [blocks = 400, times = 10] = process.argv.slice(2).map(Number);

/**
 * Keys with the size of their answers, the keys with the most history first. Only keys whose answer has the same size on both chains are
 * compared.
 */
const BUSIEST: Readonly<Record<string, string>> = {
  '/api/blocks/:key':
    'SELECT height::text AS key, tx_count AS size FROM blocks WHERE chain = $1 ORDER BY tx_count DESC, height',
  '/api/tx/:key': `SELECT encode(txid, 'hex') AS key, size FROM transactions WHERE chain = $1 ORDER BY size DESC, txid`,
  '/api/identity/:key': `SELECT identity_address AS key, 1 AS size FROM identities WHERE chain = $1
    GROUP BY 1 ORDER BY count(*) DESC, 1`,
  '/api/address/:key/balance': `SELECT address AS key, count(DISTINCT currency_id) AS size FROM balances WHERE chain = $1
    GROUP BY 1 ORDER BY count(*) DESC, 1`,
  '/api/address/:key': `SELECT address AS key, least(count(*), 25) AS size FROM address_activity WHERE chain = $1
    GROUP BY 1 ORDER BY count(*) DESC, 1`,
  '/api/currency/:key': 'SELECT DISTINCT currency_id AS key, 1 AS size FROM currencies WHERE chain = $1',
  '/api/oracle/conversions/:key': `SELECT encode(txid, 'hex') AS key, count(*) AS size FROM transfers
    WHERE chain = $1 AND to_height IS NULL AND kind <> 'send' GROUP BY txid ORDER BY min(request_height), txid`,
};

interface Grown {
  readonly pool: pg.Pool;
  readonly url: string;
  close(): Promise<void>;
}

async function serve(records: readonly UnplacedRecord[]): Promise<Grown> {
  const log = await createTestLog();
  const stores = await createTestStores();
  await log.append(CHAIN, records);
  await deriveToEnd(CHAIN, { log, stores });
  await stores.postgres.pool.query('VACUUM ANALYZE');
  const api = await serveStores({ chain: CHAIN, log, stores });
  return {
    pool: stores.postgres.pool,
    url: `http://127.0.0.1:${api.port}`,
    async close() {
      await api.close();
      await stores.close();
      await log.drop();
    },
  };
}

/** Returns milliseconds. @throws when the answer is not a 200 */
async function timed(url: string): Promise<number> {
  const started = performance.now();
  const response = await fetch(url);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url} answers ${response.status}: ${text.slice(0, 300)}`);
  return performance.now() - started;
}

async function sizesOf(pool: pg.Pool, sql: string): Promise<ReadonlyMap<string, number>> {
  const { rows } = await pool.query<{ key: string; size: bigint | number }>(sql, [CHAIN]);
  return new Map(rows.map(({ key, size }) => [key, Number(size)]));
}

/** Returns the pages that all statements touch, by the plan with which Postgres runs them. */
async function pagesTouched(pool: pg.Pool, statements: readonly SentStatement[]): Promise<number> {
  let pages = 0;
  for (const { text, values } of statements) {
    const { rows } = await pool.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, [...values]);
    const [{ Plan: plan }] = JSON.parse(rows[0]['QUERY PLAN']);
    pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  }
  return pages;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

const chain = createChain({ seed: SEED, addresses: 50, transactions: 12, mix: EVERYTHING });
const records = Array.from({ length: blocks * times }, () => blockRecord(chain.next()));
const grown = [await serve(records.slice(0, blocks)), await serve(records)] as const;
const statements = recordReaderStatements();
try {
  for (const [path, sql] of Object.entries(BUSIEST)) {
    const sizes = await Promise.all(grown.map((side) => sizesOf(side.pool, sql)));
    const same = [...(sizes[0] ?? [])].filter(([key, size]) => sizes[1]?.get(key) === size).slice(0, KEYS);
    const paths = same.map(([key]) => path.replace(':key', key));
    const ms: [number[], number[]] = [[], []];
    const pages: [number[], number[]] = [[], []];
    for (let round = 0; round <= ROUNDS; round++) {
      for (const asked of paths) {
        for (const side of [0, 1] as const) {
          statements.take();
          const took = await timed(grown[side].url + asked);
          // The first round prepares the statements and fills the caches that are per state.
          if (round > 0) ms[side].push(took);
          if (round === 1) pages[side].push(await pagesTouched(grown[side].pool, statements.take()));
        }
      }
    }
    const result = {
      keys: paths.length,
      ms: ms.map((side) => Number(median(side).toFixed(2))),
      msRatio: Number((median(ms[1]) / median(ms[0])).toFixed(2)),
      pages: pages.map((side) => Number((sum(side) / paths.length).toFixed(1))),
      pagesRatio: Number((sum(pages[1]) / sum(pages[0])).toFixed(2)),
    };
    console.log(JSON.stringify({ benchmark: 'history', path, blocks, times, ...result }));
    if (result.pagesRatio > MOST_PAGES) process.exitCode = 1;
  }
} finally {
  statements.stop();
  for (const side of grown) await side.close();
}
