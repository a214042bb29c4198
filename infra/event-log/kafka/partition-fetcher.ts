/** Fetches committed messages of one topic from an offset on, and the offsets of its ends. */

import { LogUnreachable } from '../log-errors.ts';
import { committedMessages } from './committed-messages.ts';
import type { KafkaConnection } from './kafka-connection.ts';
import { protocolErrorType } from './kafka-errors.ts';
import { parseMessage, type StoredRecord, type WriterOpened } from './record-message.ts';
import type { FetchRequest } from './topic-leader.ts';

export interface Fetched {
  readonly messages: readonly (StoredRecord | WriterOpened)[];
  /** Offset for the next fetch. */
  readonly next: number;
  /** Whether there was nothing committed at or after `next` when the broker answered. */
  readonly atEnd: boolean;
}

export type FetchLimits = Pick<FetchRequest, 'maxBytes' | 'waitMs'>;

/** After a topic has answered once, every method throws LogUnreachable instead of returning null. */
export interface PartitionFetcher {
  /** Fetches from `offset`, or from the first offset that is still kept. Returns null if the topic does not exist. */
  fetch(offset: number, limits: FetchLimits): Promise<Fetched | null>;
  /** Returns the offset after the last committed message; null if the topic does not exist. */
  end(): Promise<number | null>;
  /** Returns the first kept offset and the offset after the last committed message; null if the topic does not exist. */
  ends(): Promise<{ readonly start: number; readonly end: number } | null>;
}

export function createPartitionFetcher(connection: KafkaConnection, topic: string): PartitionFetcher {
  let hasAnswered = false;

  /** A broker that has just started or lost the topic's leader may not know the topic, whose log must not count as empty then. */
  const withLeader: KafkaConnection['withLeader'] = async (...asked) => {
    const answer = await connection.withLeader(...asked);
    if (answer === null && hasAnswered) {
      throw new LogUnreachable(`Kafka no longer knows topic ${topic}: was it deleted, or does a broker still start?`);
    }
    hasAnswered ||= answer !== null;
    return answer;
  };

  const end = () => withLeader(topic, `report the end of ${topic}`, (leader) => leader.end());

  const ends = () =>
    withLeader(topic, `report the ends of ${topic}`, async (leader) => ({
      start: await leader.start(),
      end: await leader.end(),
    }));

  async function fetchFrom(offset: number, limits: FetchLimits): Promise<Fetched | null> {
    const partition = await withLeader(topic, `send records of ${topic}`, (leader) =>
      leader.fetch({ offset, ...limits }),
    );
    if (partition === null) return null;
    const newest = partition.messages.at(-1);
    const next = newest ? Math.max(Number(newest.offset) + 1, offset) : offset;
    // The broker sends whole batches, so the first messages may precede the requested offset.
    const messages = committedMessages(partition.messages, partition.abortedTransactions)
      .filter((message) => Number(message.offset) >= offset)
      .map((message) => parseMessage(topic, message));
    return { messages, next, atEnd: next >= Number(partition.lastStableOffset) };
  }

  return {
    end,
    ends,
    async fetch(offset, limits) {
      try {
        return await fetchFrom(offset, limits);
      } catch (error) {
        if (protocolErrorType(error) !== 'OFFSET_OUT_OF_RANGE') throw error;
        const kept = await ends();
        if (kept === null) return null;
        return offset < kept.start ? fetchFrom(kept.start, limits) : { messages: [], next: offset, atEnd: true };
      }
    },
  };
}
