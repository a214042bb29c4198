/** Committed messages of one topic from an offset on, and its ends. */

import { committedMessages } from './committed-messages.ts';
import type { KafkaConnection } from './kafka-connection.ts';
import { protocolErrorType } from './kafka-errors.ts';
import type { Broker } from './kafkajs-cluster.ts';
import { parseMessage, type StoredRecord, type WriterOpened } from './record-message.ts';

export interface Fetched {
  readonly messages: readonly (StoredRecord | WriterOpened)[];
  /** Where the next fetch goes on. */
  readonly next: number;
  /** Nothing committed lay behind `next` when the broker answered. */
  readonly atEnd: boolean;
}

export interface FetchLimits {
  /** At least one batch comes, whatever its size. */
  readonly maxBytes: number;
  /** How long the broker holds the answer back while there is nothing; 0: it answers at once. */
  readonly waitMs: number;
}

export interface PartitionFetcher {
  /** From `offset`, or from the first that is still kept. Null when there is no such topic. */
  fetch(offset: number, limits: FetchLimits): Promise<Fetched | null>;
  /** The offset behind the last committed message. Null when there is no such topic. */
  end(): Promise<number | null>;
  /** That, and the first offset that is kept. Null when there is no such topic. */
  ends(): Promise<{ readonly start: number; readonly end: number } | null>;
}

const READ_COMMITTED = 1;
const EARLIEST = '-2';
const LATEST = '-1';
/** For an answer that does not wait; the request's own time limit follows from it. */
const NO_WAIT_MS = 30_000;

export function createPartitionFetcher(connection: KafkaConnection, topic: string): PartitionFetcher {
  async function offsetAt(leader: Broker, timestamp: string): Promise<number> {
    const topics = [{ topic, partitions: [{ partition: 0, timestamp }] }];
    const { responses } = await leader.listOffsets({ replicaId: -1, isolationLevel: READ_COMMITTED, topics });
    const offset = responses[0]?.partitions[0]?.offset;
    if (offset === undefined) throw new Error(`no offset of ${topic} in the answer`);
    return Number(offset);
  }

  const end = () => connection.withLeader(topic, `tell the end of ${topic}`, (leader) => offsetAt(leader, LATEST));

  const ends = () =>
    connection.withLeader(topic, `tell the ends of ${topic}`, async (leader) => ({
      start: await offsetAt(leader, EARLIEST),
      end: await offsetAt(leader, LATEST),
    }));

  async function fetchFrom(offset: number, { maxBytes, waitMs }: FetchLimits): Promise<Fetched | null> {
    const answer = await connection.withLeader(topic, `send records of ${topic}`, (leader) =>
      leader.fetch({
        replicaId: -1,
        isolationLevel: READ_COMMITTED,
        maxWaitTime: waitMs || NO_WAIT_MS,
        minBytes: waitMs ? 1 : 0,
        maxBytes,
        topics: [
          { topic, partitions: [{ partition: 0, fetchOffset: String(offset), maxBytes, currentLeaderEpoch: -1 }] },
        ],
      }),
    );
    if (answer === null) return null;
    const partition = answer.responses[0]?.partitions[0];
    if (!partition) throw new Error(`no partition of ${topic} in the answer`);
    const newest = partition.messages.at(-1);
    const next = newest ? Math.max(Number(newest.offset) + 1, offset) : offset;
    // A batch comes whole, also what lies before the offset that was asked for.
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
