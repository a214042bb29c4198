/** Reads the actual events from the log of a program. */
import type { FeedRecord } from '../../api/push/chain-feed.ts';
import { type FeedKey, type FeedPlaces, type FeedTopicName, feedKey } from '../../api/push/cursor.ts';
import type { EventChain } from '../../api/push/events-of-record.ts';
import { type FeedTopic, factsTopic, stampsTopic } from '../../api/push/feed-topic.ts';
import { isBefore } from '../../api/push/places.ts';
import type { PushEvent } from '../../api/push/push-event.ts';
import { createEmbeddedEventLog } from '../../infra/event-log/embedded/embedded-event-log.ts';
import { createTopicReader, type TopicReader } from '../../infra/event-log/topic-reader.ts';
import { heldBack } from '../support/api/push/held-back.ts';
import { type BotState, createBotState } from './bot-state.ts';
import type { Truth } from './check-history.ts';
import { type HeardEvent, placeOf, VALUED } from './history.ts';

export type Topics = Pick<Truth, 'events' | 'ends'>;

/**
 * Reads the events up to records that every client of their feed receives: that of the block at a chain's height in `heights`, which
 * occurs once, and the last one with a price (none if the chain has no prices yet), once prices have reached that block. Returns null
 * until they have. `folder` is the log's.
 */
export async function readTruth(
  folder: string,
  heights: ReadonlyMap<string, number>,
  finalityDepth: number,
  confirmations: number,
): Promise<Topics | null> {
  const publish: Publish = (records) => heldBack(records, confirmations);
  const log = createEmbeddedEventLog({ folder });
  const topics = createTopicReader(log);
  const truth = { events: new Map<FeedKey, HeardEvent[]>(), ends: new Map<FeedKey, number>() };
  try {
    for (const [chain, height] of heights) {
      const feeds = {
        facts: await factsOf(topics, { name: chain, finalityDepth, nativeCurrencyId: '' }, height, publish),
        stamps: await stampsOf(topics, chain, height, publish),
      } as const;
      for (const topic of ['facts', 'stamps'] as const) {
        const content = feeds[topic];
        if (!content) return null;
        truth.ends.set(feedKey(topic, chain), content.end);
        truth.events.set(
          feedKey(topic, chain),
          content.events.filter(({ place }) => place.position < content.end).map(heard),
        );
      }
    }
  } finally {
    await log.close();
  }
  const priced = [...truth.events.values()].flat().filter(({ type }) => type === 'price');
  if (priced.length === 0) throw new Error('no chain has prices: nothing of them was tested; try another TEST_SEED');
  return truth;
}

/** The state of a bot that has received everything up to the places of a cursor. `folder` is the log's. */
export async function readBotState(folder: string, places: FeedPlaces, finalityDepth: number): Promise<BotState> {
  const log = createEmbeddedEventLog({ folder });
  const topics = createTopicReader(log);
  const state = createBotState();
  try {
    const chains = [...places.keys()].filter((key) => !key.includes('/'));
    for (const chain of chains) {
      const records = [
        ...(await recordsOf(topics, chain, factsTopic(topics, { name: chain, finalityDepth, nativeCurrencyId: '' }))),
        ...(await recordsOf(
          topics,
          chain,
          stampsTopic(chain, () => 0),
        )),
      ];
      for (const event of records.flatMap(({ events }) => events)) {
        if (!isBefore(event, places) || !HELD_CHANNELS.has(event.channel)) continue;
        const data = JSON.parse(event.data()) as object;
        state.takeEvent({ chain, type: placeOf(chain, event.type, data).type, data });
      }
    }
  } finally {
    await log.close();
  }
  return state;
}

const HELD_CHANNELS: ReadonlySet<string> = new Set(['blocks', 'prices', 'reserves', 'conversions', 'undo']);

interface FeedHistory {
  readonly events: readonly PushEvent[];
  readonly end: number;
}

async function recordsOf<T extends FeedTopicName>(
  topics: TopicReader,
  chain: string,
  topic: FeedTopic<T>,
): Promise<FeedRecord[]> {
  const records: FeedRecord[] = [];
  for (;;) {
    const read = await topics.read(topic.name, chain, records.length, { maxRecords: 10_000, maxBytes: 1 << 26 });
    if (read.length === 0) return records;
    records.push(...read.map((entry) => ({ ...topic.read(entry), bytes: entry.bytes })));
  }
}

/** The events that a subscriber receives with each record. */
type Publish = (records: readonly FeedRecord[]) => readonly (readonly PushEvent[])[];

async function factsOf(
  topics: TopicReader,
  chain: EventChain,
  height: number,
  publish: Publish,
): Promise<FeedHistory | null> {
  const records = await recordsOf(topics, chain.name, factsTopic(topics, chain));
  const end = records.findIndex(({ change }) => change.kind === 'block' && change.height === height);
  return end < 0 ? null : { events: publish(records).flat(), end };
}

async function stampsOf(
  topics: TopicReader,
  chain: string,
  height: number,
  publish: Publish,
): Promise<FeedHistory | null> {
  const records = await recordsOf(
    topics,
    chain,
    stampsTopic(chain, () => 0),
  );
  const newest = records.findLast(({ change }) => change.kind !== 'correction')?.change;
  if (newest?.kind !== 'block' || newest.height !== height) return null;
  const heard = publish(records);
  return { events: heard.flat(), end: heard.findLastIndex((events) => events.some(({ type }) => type === 'price')) };
}

interface Valued {
  readonly usdValue?: number | null;
}

function heard({ chain, place, tail, ...event }: PushEvent): HeardEvent {
  const { data } = JSON.parse(`{"tail":true${tail()}`) as {
    data: Valued & { was?: Valued | null; now?: Valued | null };
  };
  const { feed, type } = placeOf(chain, event.type, data);
  // Clients ask for conversions with any value.
  const isPublished =
    type === 'conversion_correction'
      ? [data.was, data.now].some((row) => typeof row?.usdValue === 'number')
      : type !== VALUED || data.usdValue !== null;
  return { feed, ...place, type: isPublished ? type : `${type} without a value`, content: JSON.stringify(data) };
}
