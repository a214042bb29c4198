/** A feed without clients follows the state when it is notified of a move, and from time to time when it is not. */
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import type { TopicReader } from '../../infra/event-log/topic-reader.ts';
import type { ServiceState } from '../state/service-state.ts';
import type { StateWatch } from '../state/state-watch.ts';
import { openChainFeed } from './chain-feed.ts';
import { factsTopic } from './feed-topic.ts';

const CHAIN = 'vrsc';
/** Interval between two checks that is longer than the test. */
const NEVER_MS = 600_000;
const OFTEN_MS = 50;

const stateAt = (position: number) =>
  ({
    derived: new Map([[CHAIN, { position, height: position, hash: '' }]]),
    published: new Map(),
  }) as unknown as ServiceState;

async function idleFeed(idleMs = NEVER_MS) {
  const stop = new AbortController();
  const followers = new Set<() => void>();
  let state = stateAt(0);
  let looks = 0;
  const topics = {} as TopicReader;
  const topic = {
    ...factsTopic(topics, { name: CHAIN, finalityDepth: 100, nativeCurrencyId: 'iNative' }),
    async head({ derived }: ServiceState) {
      looks += 1;
      return (derived.get(CHAIN)?.position ?? -1) + 1;
    },
  };
  const { feed, running } = await openChainFeed({
    chain: CHAIN,
    topic,
    topics,
    watch: {
      onMove(moved: () => void) {
        followers.add(moved);
        return () => void followers.delete(moved);
      },
      get state() {
        return state;
      },
    } as unknown as StateWatch,
    logger: pino({ level: 'silent' }),
    signal: stop.signal,
    isWanted: () => false,
    onRecord: () => undefined,
    onSkip: () => undefined,
    idleMs,
  });
  const end = async () => {
    stop.abort();
    await running;
  };
  onTestFinished(end);
  return {
    feed,
    end,
    followers,
    looks: () => looks,
    move(position: number, isNotified: boolean) {
      state = stateAt(position);
      if (isNotified) for (const moved of followers) moved();
    },
  };
}

it('follows a move at once when it is notified', async () => {
  const { feed, move } = await idleFeed();
  for (const position of [1, 2, 7]) {
    move(position, true);
    await expect.poll(() => feed.head).toBe(position + 1);
  }
});

it('follows a move without a notification', async () => {
  const { feed, move } = await idleFeed(OFTEN_MS);
  move(1, false);
  await expect.poll(() => feed.head).toBe(2);
});

it('does nothing while nothing moves, and unsubscribes from the watch at its end', async () => {
  const { looks, end, followers } = await idleFeed();
  const before = looks();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(looks()).toBe(before);
  expect(followers.size).toBe(1);
  await end();
  expect(followers.size).toBe(0);
});
