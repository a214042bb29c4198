/**
 * One side of the replay in its own process, so that it does not start with the memory of the other. Arguments: folder of the log, chain,
 * side. Sends a ReplaySide to the parent.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createEmbeddedEventLog } from '../../infra/event-log/embedded/embedded-event-log.ts';
import { deriveToEnd, NATIVE } from '../../test/laws/replay.ts';
import { createTestStores } from '../../test/support/infra/test-stores.ts';
import { storeDigests } from '../../test/support/pipeline/verify/all-store-digests.ts';
import { startMemorySamples } from '../memory-samples.ts';
import { between, count, descendants, residentMb, withEngine } from '../processes.ts';
import { runNaiveScript } from './naive-script.ts';
import type { ReplaySide } from './sides.ts';

const [folder = '', chain = '', side = ''] = process.argv.slice(2);
const log = createEmbeddedEventLog({ folder });
const stores = await createTestStores();
globalThis.gc?.();
await sleep(1000);

/** Times at which the write of each batch began, and was committed, in seconds. */
const [begins, commits]: [number[], number[]] = [[], []];
const started = performance.now();
const now = () => (performance.now() - started) / 1000;
const tree = () => count([process.pid, ...descendants(process.pid)]);
const before = tree();
const samples = startMemorySamples();
if (side === 'derive') {
  await deriveToEnd(chain, {
    log,
    stores,
    crashPoint: (point) => {
      if (point === 'begin') begins.push(now());
      if (point === 'commit') commits.push(now());
    },
  });
} else await runNaiveScript(log, stores, chain, NATIVE);
const seconds = now();
const report: ReplaySide = {
  seconds,
  memory: samples.stop(),
  cpuSeconds: between(before, tree()).cpu,
  peakMb: Math.round(residentMb(withEngine(process.pid)).peak),
  // A batch is derived while the previous one is written; only the derivation of the first and the write of the last have no overlap.
  fillSeconds: begins[0] ?? 0,
  drainSeconds: (commits.at(-1) ?? 0) - (begins.at(-1) ?? 0),
  batches: commits.length,
  digests: await storeDigests(stores),
};
await stores.close();
await log.close();
process.send?.(report, () => process.exit());
