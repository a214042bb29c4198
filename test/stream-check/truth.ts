/** What happened, from the log of a program. */
import { type FeedKey, feedKey } from '../../api/push/cursor.ts';
import { type EventChain, eventsOfRecord } from '../../api/push/events-of-record.ts';
import { eventsOfStamps } from '../../api/push/events-of-stamps.ts';
import type { PushEvent } from '../../api/push/push-event.ts';
import { createEmbeddedEventLog } from '../../infra/event-log/embedded/embedded-event-log.ts';
import type { EventLog } from '../../infra/event-log/event-log.ts';
import { decodeFactsRecord } from '../../schemas/log-codec.ts';
import { factsTopic } from '../laws/topic.ts';
import { stampsTopic } from '../support/pipeline/price/published-topic.ts';
import type { Truth } from './check-history.ts';
import { type HeardEvent, placeOf, VALUED } from './history.ts';

export type Topics = Pick<Truth, 'events' | 'ends'>;

/**
 * Up to records which every client of their feed hears of: that of the block at a chain's height in `heights`, which comes once, and the
 * last one that told a price (none, when the chain has no prices yet), once prices have come to that block. Null while they have not. `folder` is the log's.
 */
export async function readTruth(
  folder: string,
  heights: ReadonlyMap<string, number>,
  finalityDepth: number,
): Promise<Topics | null> {
  const log = createEmbeddedEventLog({ folder });
  const truth = { events: new Map<FeedKey, HeardEvent[]>(), ends: new Map<FeedKey, number>() };
  try {
    for (const [chain, height] of heights) {
      const feeds = {
        facts: await factsOf(log, { name: chain, finalityDepth }, height),
        stamps: await stampsOf(log, chain, height),
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

interface FeedHistory {
  readonly events: readonly PushEvent[];
  readonly end: number;
}

async function factsOf(log: EventLog, chain: EventChain, height: number): Promise<FeedHistory | null> {
  const records = (await factsTopic(log, chain.name)).map(({ payload }) => decodeFactsRecord(payload));
  const end = records.findIndex((record) => record.kind === 'facts' && record.height === height);
  return end < 0 ? null : { events: records.flatMap((record) => eventsOfRecord(chain, record)), end };
}

async function stampsOf(log: EventLog, chain: string, height: number): Promise<FeedHistory | null> {
  const records = await stampsTopic(log, chain);
  const newest = records.findLast(({ kind }) => kind !== 'correction');
  if (newest?.kind !== 'stamps' || newest.height !== height) return null;
  const end = records.findLastIndex((record) => record.kind === 'stamps' && record.prices.length > 0);
  return { events: records.flatMap((record) => eventsOfStamps(chain, record)), end };
}

interface Valued {
  readonly usdValue?: number | null;
}

function heard({ chain, place, tail, ...event }: PushEvent): HeardEvent {
  const { data } = JSON.parse(`{"tail":true${tail()}`) as {
    data: Valued & { was?: Valued | null; now?: Valued | null };
  };
  const { feed, type } = placeOf(chain, event.type, data);
  // Clients ask for what has a value, whatever it is.
  const isPublished =
    type === 'conversion_correction'
      ? [data.was, data.now].some((row) => typeof row?.usdValue === 'number')
      : type !== VALUED || data.usdValue !== null;
  return { feed, ...place, type: isPublished ? type : `${type} without a value`, content: JSON.stringify(data) };
}
