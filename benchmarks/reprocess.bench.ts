/**
 * Stamping N conversions of four chains again, into ClickHouse and with the copy into Postgres: against a written ASOF join of the same rows
 * with both prices, and against a bare COPY of the same stamps. Also the equality join that earlier versions were measured against, the
 * price pass, the same stamps in Postgres SQL, memory, and readers while generations are swapped.
 * node benchmarks/reprocess.bench.ts [conversions = 200000] [rounds = 3] [in Postgres = 100000] [ranges of blocks = 8]
 */

import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatDecimal, parseDecimal, STAMP_DECIMALS } from '../domain/decimal.ts';
import type { Regime } from '../domain/stamps.ts';
import { columns, rowReader } from '../infra/row-reader.ts';
import { stampAll } from '../pipeline/reprocess/stamp-all.ts';
import { createTestStores } from '../test/support/infra/test-stores.ts';
import { startMemorySamples } from './memory-samples.ts';
import { bareCopy, copyAll, digestOfStamps, emptyStamps, saveStamps, standAt } from './reprocess/copies.ts';
import { stampInPostgres } from './reprocess/in-postgres.ts';
import { ASOF_JOIN, EQUALITY_JOIN, emptyBareTable } from './reprocess/joins.ts';
import { makeConversions } from './reprocess/made-conversions.ts';
import { measurePass } from './reprocess/price-pass.ts';
import { measureSwaps } from './reprocess/swap-readers.ts';
import { atMost, median } from './verdict.ts';

const [conversions = 200_000, rounds = 3, inPostgres = 100_000, stretches = 8] = process.argv.slice(2).map(Number);
const MOST = { ofAsofJoin: 1.2, ofEqualityJoin: 0.5, ofCopy: 1.5, megabytes: 1000 };
const READ_SECONDS = 3;

const stores = await createTestStores();
const { clickhouse } = stores;
const seconds = async (work: () => Promise<void>): Promise<number> => {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
};

async function stampsOf(generation: number): Promise<{ rows: number; sum: string }> {
  const [row] = await clickhouse.rows(
    rowReader({ rows: columns.number, sum: columns.text }),
    `SELECT toUInt32(count()) AS rows, toString(sum(usd_value)) AS sum FROM conversions WHERE generation = {generation:UInt32}`,
    { generation },
  );
  return { rows: row?.rows ?? 0, sum: formatDecimal(parseDecimal(row?.sum ?? '0', STAMP_DECIMALS), STAMP_DECIMALS) };
}

async function measureRegime(regime: Regime): Promise<void> {
  const made = await makeConversions(clickhouse, conversions, regime);
  await standAt(stores, made);
  const file = join(tmpdir(), `verustream-stamps-${process.pid}`);
  const stamping = { generation: 2, base: 1, hasBackfill: regime === 'backfill', ...made };
  const digests = new Set<string>();
  const taken = { stamp: [], copy: [], asof: [], equality: [], bare: [] } as Record<string, number[]>;
  const keep = async (name: string, work: () => Promise<void>) => void taken[name]?.push(await seconds(work));
  const emptyGeneration = () => clickhouse.command('ALTER TABLE conversions DROP PARTITION 2');

  async function subject(): Promise<void> {
    await emptyGeneration();
    await emptyStamps(stores);
    await keep('stamp', () => stampAll(clickhouse, stamping));
    await keep('copy', () => copyAll(stores, made));
    digests.add(await digestOfStamps(stores));
  }
  async function baselines(): Promise<void> {
    for (const [name, sql] of [
      ['asof', ASOF_JOIN],
      ['equality', EQUALITY_JOIN],
    ] as const) {
      await emptyBareTable(clickhouse);
      await keep(name, () => clickhouse.command(sql));
    }
    await emptyStamps(stores);
    await keep('bare', () => bareCopy(stores, file));
    digests.add(await digestOfStamps(stores));
  }

  try {
    // Runs first and alone for the memory figure, before the baselines allocate anything; its times are discarded.
    const memory = startMemorySamples();
    await subject();
    const { peak } = memory.stop();
    await saveStamps(stores, file);
    for (const times of Object.values(taken)) times.length = 0;
    for (let round = 0; round < rounds; round++) {
      for (const run of round % 2 === 0 ? [baselines, subject] : [subject, baselines]) await run();
    }
    const { rows } = await stampsOf(2);
    if (rows !== conversions || digests.size !== 1) process.exitCode = 1;
    printRegime(regime, rows, peak, taken);
  } finally {
    rmSync(file, { force: true });
  }
}

function printRegime(
  regime: Regime,
  rows: number,
  peak: number,
  taken: Readonly<Record<string, readonly number[]>>,
): void {
  const of = (name: string) => taken[name] ?? [];
  const middle = (name: string) => median(of(name)).toFixed(2);
  const ratio = (above: readonly string[], below: string) =>
    median(
      of(below).map((time, round) => above.reduce((sum, name) => sum + (of(name)[round] ?? Number.NaN), 0) / time),
    );
  console.log(
    `${regime}: ${rows} conversions stamped in ${middle('stamp')} s, copied into Postgres in ${middle('copy')} s\n` +
      `  stamped, of a written ASOF join (${middle('asof')} s): ${atMost(ratio(['stamp'], 'asof'), MOST.ofAsofJoin)}\n` +
      `  stamped, of the equality join of earlier versions (${middle('equality')} s): ${atMost(ratio(['stamp'], 'equality'), MOST.ofEqualityJoin)}\n` +
      `  stamped and copied, of a bare COPY of the same rows (${middle('bare')} s): ${atMost(ratio(['stamp', 'copy'], 'bare'), MOST.ofCopy)}\n` +
      `  peak memory ${atMost(peak, MOST.megabytes, ' MB')}`,
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
  await measureRegime('live');
  await measureRegime('backfill');
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
