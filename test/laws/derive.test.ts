/** The laws of derive, on real stores: whatever happens on the way, the stores end like those of a straight run. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestRedrive } from '../../pipeline/derive/redrive.ts';
import { storeDigests } from '../support/pipeline/verify/all-store-digests.ts';
import { batchSize, crashes, historyPlan, makeHistory, RUNS } from './arbitraries.ts';
import type { UnplacedRecord } from './chain-records.ts';
import { useLawChains } from './law-chains.ts';
import { deriveToEnd, deriveWithCrashes } from './replay.ts';
import { factsTopic, topicOf } from './topic.ts';

const MINUTES = 60_000;
const settings = { numRuns: RUNS, endOnFailure: process.env.LAWS_RUNS === undefined };

const { world, chainWith, straight } = useLawChains();

interface RemovedBlock {
  readonly hash: string;
  readonly removed_at: bigint;
}

async function removedBlocks(chain: string): Promise<RemovedBlock[]> {
  const { rows } = await world.stores.postgres.pool.query<RemovedBlock & { chain?: string }>(
    `SELECT b.*, r.height AS fork, r.hash AS fork_hash, r.from_height FROM reorgs r
     JOIN removed_blocks b ON b.chain = r.chain AND b.removed_at = r.position
     WHERE r.chain = $1 ORDER BY r.position, b.height`,
    [chain],
  );
  return rows.map(({ chain: _, ...row }) => row);
}

/** Hash of each block that a rewind removed, and position of the rewind. */
function removals(happened: readonly UnplacedRecord[]): [string, bigint][] {
  const standing: string[] = [];
  return happened.flatMap((record, position) => {
    if (record.kind === 'rewind') {
      return standing.splice(record.height + 1).map((hash): [string, bigint] => [hash, BigInt(position)]);
    }
    standing[record.height] = record.hash;
    return [];
  });
}

async function redriveFrom(chain: string, height: number): Promise<void> {
  await requestRedrive(world.stores.postgres.pool, chain, height);
  await deriveToEnd(chain, world);
}

describe('derive', () => {
  it(
    'gives the same stores for any batches, crashes and abandoned branches',
    async () => {
      await fc.assert(
        fc.asyncProperty(historyPlan(6), batchSize, crashes(4), async (plan, batch, planned) => {
          const { happened, stayed } = makeHistory(plan);
          const eventful = await chainWith(happened);
          await deriveWithCrashes(eventful, { ...world, batch }, planned);
          const quiet = await straight(stayed);
          expect(await storeDigests(world.stores, eventful)).toEqual(await storeDigests(world.stores, quiet));
        }),
        settings,
      );
    },
    60 * MINUTES,
  );

  it(
    'records removed blocks like a straight run over the same records',
    async () => {
      await fc.assert(
        fc.asyncProperty(historyPlan(6), batchSize, crashes(4), async (plan, batch, planned) => {
          const { happened } = makeHistory(plan);
          const eventful = await chainWith(happened);
          await deriveWithCrashes(eventful, { ...world, batch }, planned);
          const quiet = await straight(happened);
          const kept = await removedBlocks(eventful);
          expect(kept).toEqual(await removedBlocks(quiet));
          expect(kept.map(({ hash, removed_at }) => [hash, removed_at])).toEqual(removals(happened));
          await redriveFrom(eventful, Math.floor(happened.length / 4));
          expect(await removedBlocks(eventful)).toEqual(kept);
        }),
        settings,
      );
    },
    60 * MINUTES,
  );

  it(
    'publishes each record once, in order and with the same bytes, whatever fails',
    async () => {
      await fc.assert(
        fc.asyncProperty(historyPlan(4), batchSize, crashes(5), async (plan, batch, planned) => {
          const { happened } = makeHistory(plan);
          const eventful = await chainWith(happened);
          await deriveWithCrashes(eventful, { ...world, batch }, planned);
          const quiet = await straight(happened);
          const published = await factsTopic(world.log, eventful);
          expect(published).toEqual(await factsTopic(world.log, quiet));
          expect(topicOf(published)).toEqual(
            happened.map(({ kind, height, hash }, position) => ({ kind, height, hash, position, source: position })),
          );
        }),
        settings,
      );
    },
    60 * MINUTES,
  );

  it(
    'keeps two chains that run at the same time apart',
    async () => {
      const plan = fc.record({ history: historyPlan(4), batch: batchSize, crashes: crashes(3) });
      await fc.assert(
        fc.asyncProperty(plan, plan, async (one, other) => {
          const both = await Promise.all(
            [one, other].map(async ({ history, batch, crashes: planned }) => {
              const chain = await chainWith(makeHistory(history).happened);
              await deriveWithCrashes(chain, { ...world, batch }, planned);
              return chain;
            }),
          );
          const alone = [
            await straight(makeHistory(one.history).stayed),
            await straight(makeHistory(other.history).stayed),
          ];
          const digests = (chains: string[]) => Promise.all(chains.map((chain) => storeDigests(world.stores, chain)));
          expect(await digests(both)).toEqual(await digests(alone));
        }),
        settings,
      );
    },
    60 * MINUTES,
  );

  it(
    'changes nothing when it is run again over the same records',
    async () => {
      await fc.assert(
        fc.asyncProperty(historyPlan(4), async (plan) => {
          const { happened } = makeHistory(plan);
          const chain = await straight(happened);
          const before = await storeDigests(world.stores);
          const published = await factsTopic(world.log, chain);
          await deriveToEnd(chain, world);
          expect(await storeDigests(world.stores)).toEqual(before);
          expect(await factsTopic(world.log, chain)).toEqual(published);
        }),
        { ...settings, numRuns: Math.ceil(RUNS / 2) },
      );
    },
    60 * MINUTES,
  );

  it(
    'treats a log that grows between runs like one that was complete from the start',
    async () => {
      await fc.assert(
        fc.asyncProperty(historyPlan(5), fc.nat(), async (plan, cut) => {
          const { happened, stayed } = makeHistory(plan);
          const first = happened.slice(0, cut % happened.length);
          const chain = await chainWith(first);
          await deriveToEnd(chain, world);
          await world.log.append(chain, happened.slice(first.length));
          await deriveToEnd(chain, world);
          const quiet = await straight(stayed);
          expect(await storeDigests(world.stores, chain)).toEqual(await storeDigests(world.stores, quiet));
        }),
        settings,
      );
    },
    60 * MINUTES,
  );
});
