/** The two topics behind webhooks: the events of their records, and the committed position. */
import type { EventLog } from '../../infra/event-log/event-log.ts';
import { decodeFactsRecord, decodeStampsRecord } from '../../schemas/log-codec.ts';
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
  /** Seconds; null of a rewind. */
  readonly time: number | null;
  readonly events: readonly PushEvent[];
  /** Conversions whose value was sent otherwise; empty but for a correction. */
  readonly corrected: readonly CorrectedConversion[];
}

export interface WebhookEventSource {
  readonly topic: FeedTopicName;
  readonly chain: string;
  readonly key: FeedKey;
  /** Stage whose position says how far records count. */
  readonly stage: 'derive' | 'told';
  read(payload: Uint8Array): SourceRecord;
  /** Position of the first record after a mark. */
  head(log: EventLog, mark: number): Promise<number>;
}

export function factsSource(of: EventChain): WebhookEventSource {
  const { name: chain } = of;
  return {
    topic: 'facts',
    chain,
    key: feedKey('facts', chain),
    stage: 'derive',
    read(payload) {
      const record = decodeFactsRecord(payload);
      const block = record.kind === 'rewind' ? undefined : record.facts.find((fact) => fact.type === 'block');
      return {
        mark: record.source,
        kind: record.kind === 'rewind' ? 'rewind' : 'block',
        height: record.height,
        time: block?.time ?? null,
        events: eventsOfRecord(of, record),
        corrected: [],
      };
    },
    head: (log, mark) => headOf(log, chain, mark),
  };
}

export function stampsSource(chain: string): WebhookEventSource {
  return {
    topic: 'stamps',
    chain,
    key: feedKey('stamps', chain),
    stage: 'told',
    read(payload) {
      const record = decodeStampsRecord(payload);
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
    },
    head: async (_, mark) => mark + 1,
  };
}
