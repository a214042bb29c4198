/** The two topics of a chain behind the stream: their feeds read the events of each record here, and whether they may be shown. */
import type { BlockRef } from '../../domain/block-ref.ts';
import { finalizedHeight } from '../../domain/finality.ts';
import { READ_LIMITS, type TopicEntry, type TopicReader } from '../../infra/event-log/topic-reader.ts';
import type { ServiceState } from '../state/service-state.ts';
import type { ChainChange } from './chain-change.ts';
import type { FeedKey, FeedTopicName } from './cursor.ts';
import { feedKey } from './cursor.ts';
import { type EventChain, eventsOfRecord } from './events-of-record.ts';
import { eventsOfStamps } from './events-of-stamps.ts';
import type { PushEvent } from './push-event.ts';

export interface ChainTip extends BlockRef {
  readonly finalizedHeight: number;
}

export interface TopicRecord {
  readonly position: number;
  readonly change: ChainChange;
  readonly events: readonly PushEvent[];
  /** Newest block after this record; null for a topic without a tip. */
  readonly tip: ChainTip | null;
  /** Whether the stores have committed it. */
  isShown(state: ServiceState): boolean;
}

export interface FeedTopic<T extends FeedTopicName> {
  readonly name: T;
  readonly key: FeedKey;
  read(entry: TopicEntry<T>): TopicRecord;
  /** Committed position of the stores, as text: changes when more records may be shown. */
  place(state: ServiceState): string;
  tip(state: ServiceState): ChainTip | null;
  /** Position after the newest record that may be shown. */
  head(state: ServiceState): Promise<number>;
}

export function factsTopic(topics: TopicReader, of: EventChain): FeedTopic<'facts'> {
  const { name: chain, finalityDepth } = of;
  const tipAt = ({ height, hash }: BlockRef): ChainTip => {
    return { height, hash, finalizedHeight: finalizedHeight(height, finalityDepth) };
  };
  const committed = (state: ServiceState) => state.derived.get(chain);
  return {
    name: 'facts',
    key: feedKey('facts', chain),
    read(entry) {
      const record = entry.record();
      const { position, source } = record;
      const isShown = (state: ServiceState) => (committed(state)?.position ?? -1) >= source;
      const change = { kind: record.kind === 'rewind' ? 'rewind' : 'block', height: record.height } as const;
      return { position, change, events: eventsOfRecord(of, record), tip: tipAt(record), isShown };
    },
    place: (state) => `${committed(state)?.position} ${committed(state)?.hash}`,
    tip(state) {
      const at = committed(state);
      return at ? tipAt(at) : null;
    },
    head: (state) => headOf(topics, chain, committed(state)?.position ?? -1),
  };
}

/** A price is withheld until `factsHead` has passed the facts that it follows from. */
export function stampsTopic(chain: string, factsHead: () => number): FeedTopic<'stamps'> {
  const published = (state: ServiceState) => state.published.get(chain) ?? -1;
  return {
    name: 'stamps',
    key: feedKey('stamps', chain),
    read(entry) {
      const record = entry.record();
      const { position, source } = record;
      const isShown = (state: ServiceState) => published(state) >= position && factsHead() > source;
      const change = { kind: record.kind === 'stamps' ? 'block' : record.kind, height: record.height } as const;
      return { position, change, events: eventsOfStamps(chain, record), tip: null, isShown };
    },
    place: (state) => String(published(state)),
    tip: () => null,
    head: async (state) => published(state) + 1,
  };
}

/** Position after the last facts record with a source up to `source`. After a redrive, records of later sources may precede it. */
export async function headOf(topics: TopicReader, chain: string, source: number): Promise<number> {
  const last = await topics.last('facts', chain);
  if (!last) return 0;
  if (last.record().source <= source) return last.position + 1;
  // The topic is ahead by a batch at most: step back in growing steps to a committed record, then forward to the last committed one.
  let from = last.position;
  for (let step = 16; from > 0; step *= 2) {
    from = Math.max(0, from - step);
    const [entry] = await topics.read('facts', chain, from, { ...READ_LIMITS, maxRecords: 1 });
    if (!entry || entry.record().source <= source) break;
  }
  let head = from;
  for (;;) {
    const entries = await topics.read('facts', chain, from, READ_LIMITS);
    if (entries.length === 0) return head;
    const counted = entries.findLast((entry) => entry.record().source <= source);
    if (counted) head = counted.position + 1;
    from += entries.length;
  }
}
