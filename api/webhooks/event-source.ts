/** The two topics behind webhooks: the events of their records, and the committed position. */
import { READ_LIMITS, type TopicEntry, type TopicReader } from '../../infra/event-log/topic-reader.ts';
import type { Pace } from '../../infra/pace.ts';
import type { FactsRecord, StampsRecord } from '../../schemas/log-records.ts';
import { type FeedKey, type FeedTopicName, feedKey } from '../push/cursor.ts';
import { type EventChain, eventsOfRecord } from '../push/events-of-record.ts';
import { type CorrectedConversion, correctedConversions, eventsOfStamps } from '../push/events-of-stamps.ts';
import { headOf } from '../push/feed-topic.ts';
import type { PushEvent } from '../push/push-event.ts';

export interface SourceRecord {
  /** Mark to compare with `committed` and a webhook's `since`. */
  readonly mark: number;
  readonly kind: 'block' | 'rewind' | 'correction';
  /** Height of its block; for a rewind, of the newest block that stays. */
  readonly height: number;
  /** Seconds since the epoch; null for a rewind. */
  readonly time: number | null;
  readonly events: readonly PushEvent[];
  /** Conversions that were sent with another value; empty unless the record is a correction. */
  readonly corrected: readonly CorrectedConversion[];
}

export interface WebhookEventSource {
  readonly topic: FeedTopicName;
  readonly chain: string;
  readonly key: FeedKey;
  /** Stage whose position is that of the last committed record. */
  readonly stage: 'derive' | 'told';
  /** Records from a position on, committed or not, decoded one by one at this pace. */
  read(topics: TopicReader, position: number, pace: Pace): Promise<SourceRecord[]>;
  /** Mark of the record at a position, committed or not; null if there is none yet. */
  markAt(topics: TopicReader, position: number): Promise<number | null>;
  /** Position of the first record after a mark. */
  head(topics: TopicReader, mark: number): Promise<number>;
}

const ONE_RECORD = { ...READ_LIMITS, maxRecords: 1 };

export function factsSource(of: EventChain): WebhookEventSource {
  const { name: chain } = of;
  return {
    topic: 'facts',
    chain,
    key: feedKey('facts', chain),
    stage: 'derive',
    async read(topics, position, pace) {
      const entries = await topics.read('facts', chain, position, READ_LIMITS);
      return decoded(entries, (record) => ofFacts(of, record), pace);
    },
    async markAt(topics, position) {
      const [entry] = await topics.read('facts', chain, position, ONE_RECORD);
      return entry?.record().source ?? null;
    },
    head: (topics, mark) => headOf(topics, chain, mark),
  };
}

export function stampsSource(chain: string): WebhookEventSource {
  return {
    topic: 'stamps',
    chain,
    key: feedKey('stamps', chain),
    stage: 'told',
    async read(topics, position, pace) {
      const entries = await topics.read('stamps', chain, position, READ_LIMITS);
      return decoded(entries, (record) => ofStamps(chain, record), pace);
    },
    async markAt(topics, position) {
      const [entry] = await topics.read('stamps', chain, position, ONE_RECORD);
      return entry?.position ?? null;
    },
    head: async (_, mark) => mark + 1,
  };
}

async function decoded<T extends FeedTopicName>(
  entries: readonly TopicEntry<T>[],
  sourceRecord: (record: ReturnType<TopicEntry<T>['record']>) => SourceRecord,
  pace: Pace,
): Promise<SourceRecord[]> {
  const records: SourceRecord[] = [];
  for (const entry of entries) {
    if (pace.isSpent()) await pace.rest();
    records.push(sourceRecord(entry.record()));
  }
  return records;
}

function ofFacts(chain: EventChain, record: FactsRecord): SourceRecord {
  const block = record.kind === 'rewind' ? undefined : record.facts.find((fact) => fact.type === 'block');
  return {
    mark: record.source,
    kind: record.kind === 'rewind' ? 'rewind' : 'block',
    height: record.height,
    time: block?.time ?? null,
    events: eventsOfRecord(chain, record),
    corrected: [],
  };
}

function ofStamps(chain: string, record: StampsRecord): SourceRecord {
  const { position: mark, height } = record;
  if (record.kind === 'correction') {
    const corrected = correctedConversions(chain, record);
    const events = corrected.map(({ now }) => now).filter((event) => event !== null);
    return { mark, kind: 'correction', height, time: record.time, events, corrected };
  }
  const isRewind = record.kind === 'rewind';
  return {
    mark,
    kind: isRewind ? 'rewind' : 'block',
    height,
    time: isRewind ? null : record.time,
    events: eventsOfStamps(chain, record),
    corrected: [],
  };
}
