/**
 * Stamping N conversions of four chains again, against the bare join of the same rows with both prices. Beside it the price pass,
 * the same stamps in Postgres SQL, memory, and readers while generations are swapped.
 * node benchmarks/reprocess.bench.ts [conversions = 200000] [rounds = 3] [in Postgres = 100000] [stretches = 8]
 */

import { formatDecimal, parseDecimal, STAMP_DECIMALS } from '../domain/decimal.ts';
import type { Regime } from '../domain/stamps.ts';
import { columns, rowReader } from '../infra/row-reader.ts';
import { stampAll } from '../pipeline/reprocess/stamp-all.ts';
import { createTestStores } from '../test/support/infra/test-stores.ts';
import { startMemorySamples } from './replay/memory-samples.ts';
import { stampInPostgres } from './reprocess/in-postgres.ts';
import { bareJoin, makeConversions } from './reprocess/made-conversions.ts';
import { measurePass } from './reprocess/price-pass.ts';
import { measureSwaps } from './reprocess/swap-readers.ts';

const [conversions = 200_000, rounds = 3, inPostgres = 100_000, stretches = 8] = process.argv.slice(2).map(Number);
const TARGET = 1.5;
const READ_SECONDS = 3;

const stores = await createTestStores();
const { clickhouse } = stores;
const seconds = async (work: () => Promise<void>): Promise<number> => {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
};
const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

async function stampsOf(generation: number): Promise<{ rows: number; sum: string }> {
  const [row] = await clickhouse.rows(
    rowReader({ rows: columns.number, sum: columns.text }),
    `SELECT toUInt32(count()) AS rows, toString(sum(usd_value)) AS sum FROM conversions WHERE generation = {generation:UInt32}`,
    { generation },
  );
  return { rows: row?.rows ?? 0, sum: formatDecimal(parseDecimal(row?.sum ?? '0', STAMP_DECIMALS), STAMP_DECIMALS) };
}

async function againstJoin(regime: Regime): Promise<void> {
  const made = await makeConversions(clickhouse, conversions, regime);
  const stamping = { generation: 2, base: 1, hasBackfill: regime === 'backfill', ...made };
  const [joins, stamps]: [number[], number[]] = [[], []];
  const memory = startMemorySamples();
  for (let round = 0; round < rounds; round++) {
    const join = async () => void joins.push(await seconds(() => bareJoin(clickhouse)));
    const stamp = async () => void stamps.push(await seconds(() => stampAll(clickhouse, stamping)));
    for (const run of round % 2 === 0 ? [join, stamp] : [stamp, join]) await run();
  }
  const { peak } = memory.stop();
  const [join, stamp] = [median(joins), median(stamps)];
  const { rows } = await stampsOf(2);
  if (rows !== conversions) process.exitCode = 1;
  const ratio = stamp / join;
  console.log(
    `${regime}: ${rows} conversions stamped in ${stamp.toFixed(2)} s, bare join ${join.toFixed(2)} s: ratio ${ratio.toFixed(2)} ` +
      `(target ${TARGET}${ratio <= TARGET ? '' : ', MISSED'}), peak memory ${peak} MB`,
  );
}

async function againstPostgres(): Promise<void> {
  const made = await makeConversions(clickhouse, inPostgres, 'live');
  const stamp = await seconds(() => stampAll(clickhouse, { generation: 2, base: 1, hasBackfill: false, ...made }));
  const postgres = await stampInPostgres(stores, made.high);
  const isSame = (await stampsOf(2)).sum === postgres.sum;
  if (!isSame) process.exitCode = 1;
  console.log(
    `Postgres SQL, ${inPostgres} conversions: ${postgres.seconds.toFixed(2)} s against ${stamp.toFixed(2)} s: ` +
      `${(postgres.seconds / stamp).toFixed(1)} times (${isSame ? 'the same sum' : 'ANOTHER SUM'})`,
  );
}

async function whileSwapping(): Promise<void> {
  const { pool } = stores.postgres;
  await pool.query(`INSERT INTO generations (generation, served, description) VALUES (2, false, 'bench')`);
  const { quietP99Ms, swappingP99Ms, reads, swaps, mixed } = await measureSwaps(stores, READ_SECONDS);
  if (mixed > 0) process.exitCode = 1;
  console.log(
    `readers: p99 ${quietP99Ms.toFixed(0)} ms quiet, ${swappingP99Ms.toFixed(0)} ms while ${swaps} swaps pass ` +
      `(${reads} answers, ${mixed} of two generations)`,
  );
}

try {
  await againstJoin('live');
  await againstJoin('backfill');
  await againstPostgres();
  await whileSwapping();
} finally {
  await stores.close();
}
const pass = await measurePass(stretches);
console.log(
  `price pass: ${pass.heights} heights at ${pass.heightsPerSecond.toFixed(0)}/s; ${pass.stamps} stamps copied at ${pass.copiedPerSecond.toFixed(0)}/s`,
);
process.exit();
