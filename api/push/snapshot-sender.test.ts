/** The snapshots of one connection; the test plays everything that they wait for. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LogUnreachable } from '../../infra/event-log/log-errors.ts';
import type { NetworkShare } from './network-share.ts';
import { createSnapshotSender } from './snapshot-sender.ts';
import type { TakenSnapshot } from './snapshots.ts';
import type { Subscription } from './subscription.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const MINUTE = 60_000;
const subscription = (id: number) =>
  ({ id, snapshot: ['reserves'], chains: new Set(['c']), channels: new Set(['reserves']) }) as unknown as Subscription;

/** `take` plays the stores; `reach` sets whether the connection has reached the snapshot. */
function world(take: () => Promise<TakenSnapshot> | null, unpaidMs = () => 0) {
  const held = new Set<Subscription>();
  const seen = { warned: 0, failed: 0, refused: 0, released: 0, said: [] as string[], begun: 0 };
  let isReached = true;
  let orders = 0;
  const share = {
    network: 'n',
    order: (work: number) => {
      if (work === 0) orders += 1;
      return work === 0 ? unpaidMs() : 0;
    },
  } as unknown as NetworkShare;
  const sender = createSnapshotSender({
    take,
    share,
    pace: { sliceMs: 1, isSpent: () => false, rest: () => Promise.resolve() },
    isAtEnd: () => true,
    isReached: () => isReached,
    isPast: () => false,
    isHeld: (one) => held.has(one),
    say: (text) => seen.said.push(text),
    begin: () => {
      seen.begun += 1;
    },
    warn: () => {
      seen.warned += 1;
    },
    fail: () => {
      seen.failed += 1;
    },
    refuse: (_, __, error) => {
      seen.refused += 1;
      throw error;
    },
    wake: () => sender.readNext(),
  });
  return {
    sender,
    seen,
    held,
    orders: () => orders,
    reach: (is: boolean) => {
      isReached = is;
    },
    ask(id: number) {
      const one = subscription(id);
      held.add(one);
      sender.ask(id, one);
      return one;
    },
    taken: (): TakenSnapshot => ({
      lists: [{ channel: 'reserves', chain: 'c', since: 0, rows: [] }],
      rows: 8,
      places: new Map(),
      release: () => {
        seen.released += 1;
      },
    }),
  };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

it('snapshots that are requested again and again are read once; replaced ones are not read', async () => {
  let reads = 0;
  const { sender, seen, held, ask, taken } = world(() => {
    reads += 1;
    return Promise.resolve(taken());
  });
  for (let id = 0; id < 20_000; id += 1) {
    held.clear();
    ask(id);
  }
  sender.readNext();
  await pass(0);
  expect(sender.isReady()).toBe(true);
  sender.send();
  expect([reads, seen.begun, seen.said.length, sender.isDue()]).toEqual([1, 1, 1, false]);
});

it('a snapshot whose subscription has ended is dropped before it is read', async () => {
  const { sender, held, ask } = world(() => {
    throw new Error('nobody wants it');
  });
  held.delete(ask(1));
  sender.readNext();
  expect(sender.isDue()).toBe(false);
});

it('a snapshot is read when all work that was reserved before it is done, whatever is reserved meanwhile', async () => {
  const { sender, ask, taken, orders } = world(
    () => Promise.resolve(taken()),
    () => 5_000,
  );
  ask(1);
  sender.readNext();
  await pass(4_900);
  expect(sender.isReady()).toBe(false);
  await pass(200);
  expect(sender.isReady()).toBe(true);
  expect(orders()).toBe(1);
});

it('an unreachable store is read again, with one warning, but not after a statement that took too long', async () => {
  let error: Error = new LogUnreachable('the broker is away');
  let reads = 0;
  const { sender, seen, ask } = world(() => {
    reads += 1;
    return Promise.reject(error);
  });
  ask(1);
  sender.readNext();
  await pass(10_000);
  expect(seen).toMatchObject({ warned: 1, refused: 0, failed: 0 });
  expect(reads).toBeGreaterThan(5);
  expect(sender.isReading()).toBe(false);
  error = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
  await pass(2_000);
  expect(seen).toMatchObject({ refused: 1, failed: 1 });
  expect(sender.isDue()).toBe(false);
});

it('the minute of a client begins with the first part; a snapshot that could not begin within one is read again', async () => {
  const { sender, seen, ask, reach, taken } = world(() =>
    Promise.resolve({ ...taken(), lists: [1, 2, 3].map(() => taken().lists[0]).filter((list) => list !== undefined) }),
  );
  reach(false);
  ask(1);
  sender.readNext();
  await pass(MINUTE + 1);
  expect([sender.isInTime(performance.now()), seen.released]).toEqual([true, 1]);
  await pass(0);
  reach(true);
  await pass(MINUTE - 1);
  sender.send();
  await pass(MINUTE - 1);
  expect(sender.isInTime(performance.now())).toBe(true);
  await pass(2);
  expect(sender.isInTime(performance.now())).toBe(false);
  sender.close();
  expect(seen.released).toBe(2);
});
