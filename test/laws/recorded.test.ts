/** The same laws on the recording of a real chain: identities, currencies, conversions and a real reorganisation. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Stores } from '../../infra/stores.ts';
import { insertFacts } from '../../pipeline/sinks/clickhouse/clickhouse-sink.ts';
import { blockFactOf } from '../../pipeline/sinks/derived-block.ts';
import { factsByType } from '../../pipeline/sinks/facts-by-type.ts';
import { writeFacts } from '../../pipeline/sinks/postgres/postgres-sink.ts';
import type { Digests } from '../../pipeline/verify/store-digests.ts';
import { deriveBlock } from '../../processors/derive-block.ts';
import { createMemoryState } from '../../processors/state/memory-state.ts';
import { createTestStores } from '../support/infra/test-stores.ts';
import { storeDigests } from '../support/pipeline/verify/all-store-digests.ts';
import { RECORDED_CHAIN, recordedBlocks } from '../support/processors/recorded-chain.ts';
import { batchSize, crashes, RUNS } from './arbitraries.ts';
import { recordedBranches, type UnplacedRecord, wanderings, withReorganisation } from './chain-records.ts';
import { createTestLog, deriveToEnd, deriveWithCrashes, NATIVE, type TestLog } from './replay.ts';

const MINUTES = 60_000;
const settings = { numRuns: Math.ceil(RUNS / 3), endOnFailure: process.env.LAWS_RUNS === undefined };
const { main, ...branches } = recordedBranches();

let stores: Stores;
let log: TestLog;
let expected: Digests;
let names = 0;

beforeAll(async () => {
  stores = await createTestStores();
  log = await createTestLog();
  await log.append('straight', main);
  await deriveToEnd('straight', { log, stores });
  expected = await storeDigests(stores, 'straight');
}, 10 * MINUTES);

afterAll(async () => {
  await log.drop();
  await stores.close();
});

describe('derive on the recorded chain', () => {
  it(
    'equals one fold of the whole chain in memory',
    async () => {
      const state = createMemoryState(RECORDED_CHAIN);
      const blocks = recordedBlocks().map((block, position) => {
        const facts = deriveBlock(block, state);
        return { position, height: block.height, block: blockFactOf(facts), facts };
      });
      const facts = factsByType(blocks);
      await stores.postgres.transaction((client) => writeFacts(client, 'memory', facts));
      await insertFacts(stores.clickhouse, facts, { chain: 'memory', nativeCurrencyId: NATIVE });
      expect(await storeDigests(stores, 'memory')).toEqual(expected);
    },
    10 * MINUTES,
  );

  it(
    'ends as if the losing branch had never been seen, whatever fails on the way',
    async () => {
      const happened = withReorganisation({ main, ...branches });
      const size = batchSize.map(({ maxBlocks }) => ({ maxBlocks: maxBlocks * 20 }));
      await fc.assert(
        fc.asyncProperty(size, crashes(4), async (batch, planned) => {
          expect(await digestsOf(happened, batch, planned)).toEqual(expected);
        }),
        settings,
      );
    },
    60 * MINUTES,
  );

  it(
    'ends as if nothing had happened after any rewind to its own past',
    async () => {
      const turn = fc.record({
        at: fc.integer({ min: 110, max: main.length - 1 }),
        back: fc.integer({ min: 1, max: 100 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 4 }), crashes(2), async (turns, planned) => {
          expect(await digestsOf(wanderings(main, turns), { maxBlocks: 100 }, planned)).toEqual(expected);
        }),
        settings,
      );
    },
    60 * MINUTES,
  );
});

async function digestsOf(
  happened: readonly UnplacedRecord[],
  batch: { maxBlocks: number },
  planned: Parameters<typeof deriveWithCrashes>[2],
): Promise<Digests> {
  const chain = `run${names++}`;
  await log.append(chain, happened);
  await deriveWithCrashes(chain, { log, stores, batch }, planned);
  return storeDigests(stores, chain);
}
