/** A client that catches up while the log is unreachable. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LogUnreachable } from '../../infra/event-log/log-errors.ts';
import type { Served } from './catch-up.ts';
import type { FeedPlace } from './cursor.ts';
import { createEventSender, type EventSenderOptions } from './event-sender.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

it('reads the log once a second, however often it is woken, and continues when the log is back', async () => {
  let loads = 0;
  let isAway = true;
  const own = new Map([['c', { position: 0, index: 0 }]]);
  const feed = { key: 'c', chain: 'c', head: 5 };
  const fail = vi.fn();
  const hub = {
    feeds: [feed],
    places: () => new Map([['c', { position: 5, index: 0 }]]),
    isAt: () => false,
    nextEvents: (_: unknown, { position }: FeedPlace) =>
      isAway ? { position } : { events: [], after: { position: position + 1, index: 0 } },
    load: async () => {
      loads += 1;
      if (isAway) throw new LogUnreachable('the broker is away');
      return true;
    },
    pace: { sliceMs: 5, isSpent: () => false, rest: () => Promise.resolve() },
    serve: (client: Served) => void client.serve(),
  };
  const sender = createEventSender({
    hub,
    network: 'n',
    place: {
      own,
      moveTo: (key: string, place: { position: number; index: number }) => own.set(key, place),
      joinHub() {},
    },
    outbox: { isTakingMore: true, together: (work: () => void) => work() },
    subscriptions: { confirmationsAt: () => [0], isAhead: () => false },
    snapshots: { isDue: () => false, isReading: () => false, isReady: () => false, places: () => null, readNext() {} },
    mempool: { isBehind: false, send() {} },
    onExpired: fail,
    fail,
  } as unknown as EventSenderOptions);
  for (let woken = 0; woken < 300; woken += 1) {
    sender.wake();
    await vi.advanceTimersByTimeAsync(10);
  }
  expect(loads).toBeGreaterThan(1);
  expect(loads).toBeLessThanOrEqual(4);
  isAway = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(own.get('c')).toEqual({ position: 5, index: 0 });
  expect(fail).not.toHaveBeenCalled();
});
