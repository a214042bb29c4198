/** kill -9 at any moment is a supported way to stop: the stores end up the same as without kills. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Digests } from '../../pipeline/verify/store-digests.ts';
import { createRandom } from '../../recordings/player/faults.ts';
import { recordedBranches, type UnplacedRecord, withReorganisation } from '../laws/chain-records.ts';
import { SEED } from '../setup/seed.ts';
import { createDataFolder, type Death, digestsOf, endServers, live, removeDataFolder } from './lives.ts';

const MINUTES = 60_000;
const KILLS = Number(process.env.CRASH_KILLS ?? 8);
/** On average this many killed runs take as long as one whole run, so that most are killed while working. */
const LIVES_TO_THE_END = Math.min(KILLS, 12);
const EARLY_DEATHS = 0.2;

const records: readonly UnplacedRecord[] = withReorganisation(recordedBranches());
const random = createRandom(SEED);
let expected: Digests;
/** Milliseconds of a run without a kill: until the stores are open, and from then to the end. */
let opening: number;
let working: number;

beforeAll(async () => {
  const folder = await createDataFolder(records);
  const { milliseconds, opened } = await live(folder, null);
  opening = opened ?? milliseconds;
  working = milliseconds - opening;
  expected = await digestsOf(folder);
  await removeDataFolder(folder);
}, 10 * MINUTES);

let kept: string | null = null;
afterAll(async () => {
  if (!kept) return;
  await endServers(kept);
  console.error(`kept for a look: ${kept}`);
});

it(
  `${KILLS} kills at random moments (TEST_SEED=${SEED}) do not change the result`,
  async () => {
    expect(expected['clickhouse.conversions']?.rows).toBeGreaterThan(100);
    let kills = 0;
    while (kills < KILLS) {
      const folder = await createDataFolder(records);
      kept = folder;
      for (let done = false; !done && kills < KILLS; ) {
        const { killed } = await live(folder, someDeath());
        done = !killed;
        if (killed) kills += 1;
      }
      await live(folder, null);
      expect(await digestsOf(folder)).toEqual(expected);
      await removeDataFolder(folder);
      kept = null;
    }
  },
  60 * MINUTES,
);

function someDeath(): Death {
  if (random() < EARLY_DEATHS) return { after: 'start', milliseconds: random() * opening };
  return { after: 'open', milliseconds: (random() * 2 * working) / LIVES_TO_THE_END };
}
