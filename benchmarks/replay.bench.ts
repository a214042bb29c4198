/**
 * Replay of a log into both stores against a naive script that writes the same rows, in the same run, each in its own process; then the same
 * replay of a short log, which shows how much more a block costs when much is stored.
 * node benchmarks/replay.bench.ts [blocks = 100000] [rounds = 1] [blocks of the short log = 2000]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmbeddedEventLog } from '../infra/event-log/embedded/embedded-event-log.ts';
import { encodeBlocksRecord } from '../schemas/log-codec.ts';
import { createChain } from '../test/generator/chain.ts';
import { PLAIN_PAYMENTS } from '../test/generator/mixes.ts';
import { blockRecord } from '../test/laws/chain-records.ts';
import { type ReplaySide, runSide, type SideName } from './replay/sides.ts';
import { atLeast, atMost, median } from './verdict.ts';

const CHAIN = 'payments';
const SEED = 20261121;
const APPEND = 1000;
/** From this many blocks on, the target is the larger ratio. */
const MANY = 100_000;
const WANTED = { many: 1.8, few: 1.5, cost: 1.2, megabytes: 600 };

const [blocks = MANY, rounds = 1, few = 2000] = process.argv.slice(2).map(Number);

const folder = await mkdtemp(join(tmpdir(), 'verustream-replay-'));
try {
  const bytes = await fill(join(folder, 'log'), blocks);
  const ratios: number[] = [];
  let subject: ReplaySide | undefined;
  for (let round = 0; round < rounds; round++) {
    // The order alternates, so that the warm caches do not always help the same side.
    const order: readonly SideName[] = round % 2 === 0 ? ['derive', 'naive'] : ['naive', 'derive'];
    const results = new Map<SideName, ReplaySide>();
    for (const side of order) results.set(side, await runSide(join(folder, 'log'), CHAIN, side));
    subject = results.get('derive');
    ratios.push(print(round, bytes, subject, results.get('naive')));
  }
  console.log(`× the naive script: ${atLeast(median(ratios), blocks >= MANY ? WANTED.many : WANTED.few)}`);
  if (subject && few < blocks) await compareWithFew(subject);
} finally {
  await rm(folder, { recursive: true });
}

async function fill(path: string, count: number): Promise<number> {
  const chain = createChain({ seed: SEED, addresses: 20_000, transactions: 4, mix: PLAIN_PAYMENTS });
  const log = createEmbeddedEventLog({ folder: path });
  const writer = await log.openWriter('blocks', CHAIN);
  let bytes = 0;
  for (let made = 0; made < count; made += APPEND) {
    const some = Array.from({ length: Math.min(APPEND, count - made) }, () => chain.next());
    bytes += some.reduce((sum, { text }) => sum + text.length, 0);
    const records = some.map((block, index) => ({ ...blockRecord(block), position: made + index }));
    await writer.append(
      records.map((record) => ({ position: record.position, payload: encodeBlocksRecord(record, writer.packing) })),
    );
  }
  await writer.close();
  await log.close();
  return bytes;
}

/** Returns the ratio. */
function print(
  round: number,
  bytes: number,
  subject: ReplaySide | undefined,
  baseline: ReplaySide | undefined,
): number {
  if (!subject || !baseline) throw new TypeError('a run is missing');
  const tables = Object.entries(subject.digests);
  const different = tables.filter(([table, { digest }]) => baseline.digests[table]?.digest !== digest);
  const rows = tables.reduce((sum, [, table]) => sum + table.rows, 0);
  const perSecond = (count: number, { seconds }: ReplaySide) => Math.round(count / seconds);
  const side = (run: ReplaySide) => ({
    blocksPerSecond: perSecond(blocks, run),
    rowsPerSecond: perSecond(rows, run),
    memory: run.memory,
  });
  const ratio = baseline.seconds / subject.seconds;
  console.log(
    JSON.stringify({
      benchmark: 'replay',
      round,
      seed: SEED,
      blocks,
      megabytes: Math.round(bytes / 1e6),
      rows,
      ratio: Number(ratio.toFixed(3)),
      derive: side(subject),
      naive: side(baseline),
      loadAverage: loadavg()[0],
      node: process.version,
      equal: different.length === 0,
    }),
  );
  const { seconds, fillSeconds, drainSeconds, batches, peakMb } = subject;
  const between = seconds - fillSeconds - drainSeconds;
  console.log(
    `  derive: fill ${fillSeconds.toFixed(2)} s, then ${between.toFixed(2)} s, drain ${drainSeconds.toFixed(2)} s of ${seconds.toFixed(2)} s in ${batches} batches\n` +
      `  peak memory of the process: ${atMost(peakMb, WANTED.megabytes, ' MB')}; of the naive script ${baseline.peakMb} MB`,
  );
  for (const [table, digest] of different) console.error(table, 'differs', digest, baseline.digests[table]);
  if (different.length > 0) process.exitCode = 1;
  return ratio;
}

async function compareWithFew(many: ReplaySide): Promise<void> {
  const path = join(folder, 'few');
  await fill(path, few);
  const short = await runSide(path, CHAIN, 'derive');
  const millis = ({ cpuSeconds }: ReplaySide, count: number) => (cpuSeconds / count) * 1000;
  const [large, small] = [millis(many, blocks), millis(short, few)];
  console.log(
    `CPU of all processes a block: ${large.toFixed(3)} ms of ${blocks}, ${small.toFixed(3)} ms of ${few}: ${atMost(large / small, WANTED.cost)}`,
  );
}
