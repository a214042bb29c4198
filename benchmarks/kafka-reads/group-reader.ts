/** Reads by offset with kafkajs' means for reading: a one-member consumer group, paused between reads and moved by `seek`. */
import { randomUUID } from 'node:crypto';
import type { Consumer, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';

export interface GroupReader {
  readonly groupId: string;
  /** Counts of this member since it was opened. */
  readonly counts: { joins: number; rebalances: number };
  /** Returns the committed messages of one batch from `offset` on; waits until there are some. */
  read(offset: number): Promise<readonly KafkaMessage[]>;
  /** Passes every batch from `offset` on to `heard`, until `heard` returns true. */
  follow(offset: number, heard: (messages: readonly KafkaMessage[]) => boolean): Promise<void>;
  close(): Promise<void>;
}

export interface GroupReaderOptions {
  readonly maxBytes: number;
  /** How long a fetch may wait; a `seek` or a resume also waits for the running fetch. */
  readonly waitMs: number;
}

export async function openGroupReader(
  kafka: Kafka,
  topic: string,
  { maxBytes, waitMs }: GroupReaderOptions,
): Promise<GroupReader> {
  const groupId = `bench-${randomUUID()}`;
  const consumer: Consumer = kafka.consumer({
    groupId,
    maxBytes,
    maxBytesPerPartition: maxBytes,
    maxWaitTimeInMs: waitMs,
    allowAutoTopicCreation: false,
  });
  const counts = { joins: 0, rebalances: 0 };
  consumer.on(consumer.events.GROUP_JOIN, () => {
    counts.joins += 1;
  });
  consumer.on(consumer.events.REBALANCING, () => {
    counts.rebalances += 1;
  });

  let wanted = -1;
  let onBatch: ((messages: readonly KafkaMessage[]) => boolean) | null = null;

  async function eachBatch({ batch }: EachBatchPayload): Promise<void> {
    // Drops a batch that was fetched before the reader moved.
    if (onBatch === null || Number(batch.firstOffset()) < wanted) return;
    if (!onBatch(batch.messages)) return;
    onBatch = null;
    consumer.pause([{ topic }]);
  }

  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  const joined = new Promise<void>((resolve) => {
    const off = consumer.on(consumer.events.GROUP_JOIN, () => {
      off();
      // Pauses before the first fetch, so that the reader is idle until its first read.
      consumer.pause([{ topic }]);
      resolve();
    });
  });
  await consumer.run({ autoCommit: false, eachBatch });
  await joined;

  function follow(offset: number, heard: (messages: readonly KafkaMessage[]) => boolean): Promise<void> {
    return new Promise((resolve) => {
      wanted = offset;
      onBatch = (messages) => {
        const enough = heard(messages);
        if (enough) resolve();
        return enough;
      };
      consumer.seek({ topic, partition: 0, offset: String(offset) });
      consumer.resume([{ topic }]);
    });
  }

  return {
    groupId,
    counts,
    async read(offset) {
      let found: readonly KafkaMessage[] = [];
      await follow(offset, (messages) => {
        found = messages;
        return true;
      });
      return found;
    },
    follow,
    close: () => consumer.disconnect(),
  };
}
