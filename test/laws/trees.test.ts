/**
 * Block trees: branches on branches, up to a hundred blocks deep, with restarts and crashes on the way. Whatever happened, the
 * stores end as if there had only been the winning branch. TREE_RUNS is the number of trees; TEST_SEED repeats the same trees, and
 * TREE_FIRST continues a long run that was stopped.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Stores } from '../../infra/stores.ts';
import { SEED } from '../setup/seed.ts';
import { createTestStores } from '../support/infra/test-stores.ts';
import { storeDigests } from '../support/pipeline/verify/all-store-digests.ts';
import { batchSize, crashes, type HistoryPlan, makeHistory } from './arbitraries.ts';
import type { UnplacedRecord } from './chain-records.ts';
import { createTestLog, deriveToEnd, deriveWithCrashes, type PlannedCrash, type TestLog } from './replay.ts';

const MINUTES = 60_000;
const RUNS = Number(process.env.TREE_RUNS ?? 12);
const FIRST = Number(process.env.TREE_FIRST ?? 0);
/** Number of trees whose stores are compared together, and then dropped. */
const GROUP = 20;
/** Number of trees that grow at the same time: most of the time they wait for the stores. */
const AT_ONCE = 4;

interface Tree {
  readonly history: HistoryPlan;
  readonly batch: { readonly maxBlocks: number };
  readonly crashes: readonly PlannedCrash[];
  /** Share of the log, in thousandths, that the first run sees. */
  readonly restart: number;
}

/** Contents of the compared trees. */
interface Seen {
  records: number;
  rewinds: number;
  deepest: number;
}

const steps = (blocks: number, back: number, most: number) =>
  fc.array(fc.record({ blocks: fc.integer({ min: 1, max: blocks }), back: fc.integer({ min: 0, max: back }) }), {
    minLength: 2,
    maxLength: most,
  });

const treeOf = (branches: fc.Arbitrary<HistoryPlan['steps']>): fc.Arbitrary<Tree> =>
  fc.record({
    history: fc.record({ seed: fc.nat(), steps: branches }),
    batch: batchSize,
    crashes: crashes(2),
    restart: fc.nat({ max: 1000 }),
  });
const DEEPEST = 100;
/** Tables that must have rows of every tree, because two empty stores are equal too. */
const FILLED = [
  'postgres.blocks',
  'postgres.outputs',
  'postgres.balances',
  'clickhouse.blocks',
  'clickhouse.address_deltas',
];
const small = steps(8, 12, 7);
/** Trees in which a branch of a hundred blocks is abandoned, and then later branches too. */
const deep = (rest: typeof small) =>
  rest.map((more) => [{ blocks: 105, back: 0 }, { blocks: 3, back: DEEPEST }, ...more]);
const tree = treeOf(fc.oneof({ weight: 19, arbitrary: small }, { weight: 1, arbitrary: deep(steps(60, DEEPEST, 4)) }));

let log: TestLog;

beforeAll(async () => {
  log = await createTestLog();
}, 5 * MINUTES);

afterAll(() => log.drop());

it(
  `${RUNS} block trees leave the same stores as their winning branches (TEST_SEED=${SEED})`,
  async () => {
    // One tree is deep, however few there are.
    const trees = [
      ...fc.sample(treeOf(deep(small)), { numRuns: 1, seed: SEED }),
      ...fc.sample(tree, { numRuns: RUNS - 1, seed: SEED }),
    ];
    expect(trees.slice(FIRST), 'TREE_FIRST is a number below TREE_RUNS').not.toHaveLength(0);
    const began = performance.now();
    const seen = { records: 0, rewinds: 0, deepest: 0 };
    for (let first = FIRST; first < trees.length; first += GROUP) {
      const group = trees.slice(first, first + GROUP);
      await compareGroup(group, first, seen);
      const done = first + group.length;
      const rate = (done - FIRST) / ((performance.now() - began) / MINUTES);
      const eta = ((RUNS - done) / rate).toFixed(1);
      if (done < RUNS) console.log(`${done} of ${RUNS} trees are equal: ${rate.toFixed(1)} a minute, ${eta} min to go`);
    }
    if (FIRST === 0) expect(seen.deepest).toBe(DEEPEST);
    expect(seen.rewinds).toBeGreaterThan(RUNS - FIRST);
    const summary = `${RUNS - FIRST} trees of ${seen.records} records, ${seen.rewinds} of them rewinds of up to ${seen.deepest} blocks`;
    console.log(`${summary}: equal (TEST_SEED=${SEED})`);
  },
  24 * 60 * MINUTES,
);

/** Both sides use the same name for a tree's chain, so that whole stores are compared, and single chains only when they differ. */
async function compareGroup(group: readonly Tree[], first: number, seen: Seen): Promise<void> {
  const [eventful, straight] = await Promise.all([createTestStores(), createTestStores()]);
  try {
    const left = group.map((each, index) => ({ each, name: `tree${first + index}` }));
    const grow = async (): Promise<void> => {
      for (let next = left.pop(); next; next = left.pop()) {
        const { happened, stayed } = makeHistory(next.each.history);
        count(happened, seen);
        await deriveEventfully(next.name, happened, next.each, eventful);
        await deriveStraight(next.name, stayed, straight);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, grow));
    const [made, expected] = await Promise.all([storeDigests(eventful), storeDigests(straight)]);
    if (JSON.stringify(made) !== JSON.stringify(expected)) await findDifference(group, first, eventful, straight);
    expect(made).toEqual(expected);
    for (const table of FILLED) expect(made[table]?.rows, table).toBeGreaterThan(group.length);
  } finally {
    await Promise.all([eventful.close(), straight.close()]);
  }
}

function count(happened: readonly UnplacedRecord[], seen: Seen): void {
  seen.records += happened.length;
  for (const record of happened) {
    if (record.kind !== 'rewind') continue;
    seen.rewinds++;
    seen.deepest = Math.max(seen.deepest, record.fromHeight - record.height);
  }
}

async function deriveEventfully(
  name: string,
  happened: readonly UnplacedRecord[],
  { batch, crashes: planned, restart }: Tree,
  stores: Stores,
): Promise<void> {
  const cut = Math.floor((happened.length * restart) / 1000);
  await log.append(name, happened.slice(0, cut));
  if (cut > 0) await deriveToEnd(name, { log, stores, batch });
  await log.append(name, happened.slice(cut));
  await deriveWithCrashes(name, { log, stores, batch }, planned);
}

/** Derives from a separate log, because positions do not count. */
async function deriveStraight(name: string, stayed: readonly UnplacedRecord[], stores: Stores): Promise<void> {
  const straightLog = await createTestLog();
  try {
    await straightLog.append(name, stayed);
    await deriveToEnd(name, { log: straightLog, stores });
  } finally {
    await straightLog.drop();
  }
}

/** Reports the tree that differs, with the plan that makes it again. */
async function findDifference(
  group: readonly Tree[],
  first: number,
  eventful: Stores,
  straight: Stores,
): Promise<void> {
  for (const [index, each] of group.entries()) {
    const name = `tree${first + index}`;
    const [left, right] = await Promise.all([storeDigests(eventful, name), storeDigests(straight, name)]);
    expect(left, `${name} of TEST_SEED=${SEED}: ${JSON.stringify(each)}`).toEqual(right);
  }
}
