/** All clients' snapshots share one bound on memory, whatever states and channels they ask for, and no network takes all of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Snapshot } from '../state/snapshot.ts';
import { MOST_SNAPSHOT_ROWS, type SnapshotChannel } from './snapshot-rows.ts';
import { createSnapshots, type TakenSnapshot } from './snapshots.ts';

const CHAIN = 'c';
const MOST_ROWS = 100_000;
const MOST_ROWS_OF_NETWORK = 25_000;
const RESERVES = new Set<SnapshotChannel>(['reserves']);

/** Every state has `rowsOfState()` rows; `move` begins another state. */
function world(rowsOfState: () => number) {
  let number = 0;
  let reads = 0;
  const row = { currencyId: 'b', txid: '00', flags: 0, supply: 1n, reserves: '[]', height: 0, time: 0n };
  const transfer = { fromHeight: 0, txid: '00', vout: 0, requestTime: 0n };
  const state = () => ({ version: String(number), derived: new Map(), published: new Map() });
  const take = createSnapshots({
    chains: [{ name: CHAIN, finalityDepth: 1 }] as never,
    feeds: [],
    topics: { read: () => Promise.reject(new Error('no topic is read for reserves')) },
    state: state as never,
    withSnapshot: async (work) => {
      reads += 1;
      const count = rowsOfState();
      const rows = (_: unknown, sql: string) =>
        sleep(0, new Array(count).fill(sql.includes('transfers') ? transfer : row));
      return await work({ state: state(), rows } as unknown as Snapshot);
    },
  });
  return {
    take: (network: string, channels: ReadonlySet<SnapshotChannel> = RESERVES) => take(channels, network),
    move: () => {
      number += 1;
    },
    reads: () => reads,
  };
}

it('clients at the same state share one reading; each further state waits for room', async () => {
  const { take, move, reads } = world(() => MOST_SNAPSHOT_ROWS);
  const held: (TakenSnapshot | null)[][] = [];
  for (let states = 0; states < MOST_ROWS / MOST_SNAPSHOT_ROWS; states += 1) {
    const together = await Promise.all(['a', 'b', 'b'].map((client) => take(`${client}${states}`)));
    expect(new Set(together.map((taken) => taken?.lists)).size).toBe(1);
    held.push(together);
    move();
  }
  expect(reads()).toBe(held.length);
  expect(take('another')).toBeNull();

  // There is no room before the last client of a state has received its snapshot.
  const [first, second, third] = held[0] ?? [];
  first?.release();
  second?.release();
  expect(take('another')).toBeNull();
  third?.release();
  expect((await take('another'))?.rows).toBe(MOST_SNAPSHOT_ROWS);
  expect(reads()).toBe(held.length + 1);
});

it('a network that reads none of the snapshots that it asks for leaves room for the others', async () => {
  for (const networks of [['203.0.113.7'], ['20010db8000000000000::/64', '20010db8000000010000::/64']]) {
    const { take, move } = world(() => 1_000);
    const held: (TakenSnapshot | null)[] = [];
    for (let asked = 0; asked < 200; asked += 1) {
      held.push(await take(networks[asked % networks.length] ?? ''));
      move();
    }
    const rows = held.reduce((sum, taken) => sum + (taken?.rows ?? 0), 0);
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThanOrEqual(MOST_ROWS_OF_NETWORK);
    expect((await take('198.51.100.1'))?.rows).toBe(1_000);
  }
});

it('a state with too many rows is refused, and none of its rows are kept', async () => {
  const { take, reads } = world(() => MOST_SNAPSHOT_ROWS + 1);
  for (let tries = 1; tries <= 7; tries += 1) {
    await expect(take('a')).rejects.toMatchObject({ reason: 'snapshot_too_large' });
    expect(reads()).toBe(tries);
  }
});

const step = fc.record({
  network: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  channels: fc.subarray<SnapshotChannel>(['reserves', 'conversions'], { minLength: 1 }),
  rows: fc.integer({ min: 0, max: MOST_SNAPSHOT_ROWS }),
  after: fc.constantFrom('nothing', 'move', 'release', 'settle'),
});

it('rows that are being sent stay within the bounds, whatever is requested and released, and all of them are released', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
      let rows = 0;
      const { take, move } = world(() => rows);
      const held: { readonly network: string; readonly taken: TakenSnapshot }[] = [];
      const asked: Promise<unknown>[] = [];
      for (const { network, channels, after, ...one } of steps) {
        rows = Math.floor(one.rows / channels.length);
        asked.push(
          Promise.resolve(take(network, new Set(channels))).then((taken) => taken && held.push({ network, taken })),
        );
        if (after === 'move') move();
        if (after === 'release') held.shift()?.taken.release();
        if (after === 'settle') await Promise.all(asked);
        const rowsOf = (of: typeof held) =>
          [...new Map(of.map(({ taken }) => [taken.lists, taken.rows])).values()].reduce(
            (sum, count) => sum + count,
            0,
          );
        expect(rowsOf(held)).toBeLessThanOrEqual(MOST_ROWS);
        for (const { network: name } of steps)
          expect(rowsOf(held.filter((other) => other.network === name))).toBeLessThanOrEqual(MOST_ROWS_OF_NETWORK);
      }
      await Promise.all(asked);
      for (const { taken } of held) taken.release();
      move();
      expect(await take('a')).not.toBeNull();
    }),
    { numRuns: 25 },
  );
});
