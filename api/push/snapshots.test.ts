/** All clients' snapshots share one bound on memory, whatever states and channels they ask for. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Snapshot } from '../state/snapshot.ts';
import { MOST_SNAPSHOT_ROWS } from './snapshot-rows.ts';
import { createSnapshots } from './snapshots.ts';

const CHAIN = 'c';
const MOST_ROWS_HELD = 100_000;
const RESERVES = new Set(['reserves'] as const);
const never = new AbortController().signal;

/** Every state has as many rows; `move` begins another one. */
function world(rowsOfState: number) {
  let number = 0;
  let reads = 0;
  const row = { currencyId: 'b', txid: '00', flags: 0, supply: 1n, reserves: '[]', height: 0, time: 0n };
  const rows = Array.from({ length: rowsOfState }, () => row);
  const state = () => ({ version: String(number), derived: new Map(), published: new Map() });
  const take = createSnapshots({
    chains: [{ name: CHAIN, finalityDepth: 1 }] as never,
    feeds: [],
    topics: { read: () => Promise.reject(new Error('no topic is read for reserves')) },
    state: state as never,
    withSnapshot: (work) => {
      reads += 1;
      return work({ state: state(), rows: () => Promise.resolve(rows) } as unknown as Snapshot);
    },
  });
  return {
    take: (signal = never) => take(RESERVES, signal),
    move: () => {
      number += 1;
    },
    reads: () => reads,
  };
}

const isSettled = async (work: Promise<unknown>) =>
  (await Promise.race([work.then(() => 'settled'), sleep(200, 'waits')])) === 'settled';

it('clients at the same state share one reading; each further state waits for room', async () => {
  const { take, move, reads } = world(MOST_SNAPSHOT_ROWS);
  const held = [];
  for (let states = 0; states < MOST_ROWS_HELD / MOST_SNAPSHOT_ROWS; states += 1) {
    const together = await Promise.all([take(), take(), take()]);
    expect(new Set(together.map(({ lists }) => lists)).size).toBe(1);
    held.push(together);
    move();
  }
  expect(reads()).toBe(held.length);

  const closing = new AbortController();
  const closed = take(closing.signal);
  const next = take();
  expect(await isSettled(next)).toBe(false);
  closing.abort();
  await expect(closed).rejects.toThrow(/abort/);

  // Not before the last client of a state has had its snapshot.
  const [first, second, third] = held[0] ?? [];
  first?.release();
  second?.release();
  expect(await isSettled(next)).toBe(false);
  expect(reads()).toBe(held.length);
  third?.release();
  expect((await next).rows).toBe(MOST_SNAPSHOT_ROWS);
  expect(reads()).toBe(held.length + 1);
});

it('a state with too many rows is refused, and nothing of it is held', async () => {
  const { take, reads } = world(MOST_SNAPSHOT_ROWS + 1);
  for (let tries = 1; tries <= 7; tries += 1) {
    await expect(take()).rejects.toMatchObject({ reason: 'snapshot_too_large' });
    expect(reads()).toBe(tries);
  }
});
