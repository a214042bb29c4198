/** The head of the facts topic for clients follows the last committed record, also while a redrive derives blocks again. */
import fc from 'fast-check';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { TopicReader } from '../../infra/event-log/topic-reader.ts';
import type { ServiceState } from '../state/service-state.ts';
import type { StateWatch } from '../state/state-watch.ts';
import { openChainFeed } from './chain-feed.ts';
import { factsTopic, headOf } from './feed-topic.ts';

/** A topic whose records have these sources. */
function topicOf(sources: readonly number[]): TopicReader {
  const entries = sources.map((source, position) => ({ position, record: () => ({ source, position }) }));
  return {
    last: async () => entries.at(-1) ?? null,
    read: async (_topic: string, _chain: string, from: number, { maxRecords }: { maxRecords: number }) =>
      entries.slice(from, from + Math.min(maxRecords, 7)),
  } as unknown as TopicReader;
}

const upTo = (last: number, first = 0) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

it('the head is after the last committed record, however far the topic is ahead', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(300), fc.nat(300), async (newest, committed) => {
      expect(await headOf(topicOf(upTo(newest)), 'one', committed)).toBe(Math.min(newest, committed) + 1);
    }),
  );
});

it('the head is after the rewind of a redrive once the rewind is committed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 300 }), fc.nat(300), fc.nat(300), async (before, back, again) => {
      const kept = Math.max(0, before - back - 1);
      const sources = [...upTo(before), kept, ...upTo(kept + again, kept + 1)];
      for (const committed of [kept, kept + Math.floor(again / 2), kept + again]) {
        expect(await headOf(topicOf(sources), 'one', committed)).toBe(before + 2 + committed - kept);
      }
    }),
  );
});

it('a feed waits for a topic that the broker does not know yet, instead of beginning at the first record of history', async () => {
  const stop = new AbortController();
  const known = topicOf(upTo(20));
  let asked = 0;
  const topics = {
    ...known,
    last: async () => (asked++ < 2 ? null : known.last('facts', 'one')),
    waitFor: async () => undefined,
  } as unknown as TopicReader;
  const state = { derived: new Map([['one', { position: 12, height: 12, hash: 'ab' }]]) } as unknown as ServiceState;
  const { feed, running } = await openChainFeed({
    chain: 'one',
    topic: factsTopic(topics, { name: 'one', finalityDepth: 100, nativeCurrencyId: 'iNative' }),
    topics,
    watch: { state, onMove: () => () => undefined, until: async () => undefined } as unknown as StateWatch,
    logger: pino({ level: 'silent' }),
    signal: stop.signal,
    isWanted: () => false,
    onRecord: () => undefined,
    onSkip: () => undefined,
  });
  expect(feed.head).toBe(13);
  stop.abort();
  await running;
});
