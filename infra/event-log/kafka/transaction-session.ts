/**
 * One transactional producer. Once it is open, no older producer of the same id can commit, and what they
 * committed is final.
 */
import kafkajs, { type Message, type Producer } from 'kafkajs';
import type { KafkaClient } from './kafka-client.ts';

export interface TransactionSession {
  /** All messages or none; resolves when the broker has decided so. Returns the offset of the last one. */
  commit(messages: readonly Message[]): Promise<number>;
  close(): Promise<void>;
}

/** Below the broker's limit for transactions of 15 minutes; a dead writer's transaction holds readers up so long. */
const TRANSACTION_TIMEOUT_MS = 60_000;
/** Bytes of one request: a producer's batch is a request of its own, and a reader gets a batch whole. */
const BATCH_BYTES = 1024 * 1024;

export async function openTransactionSession(client: KafkaClient, topic: string): Promise<TransactionSession> {
  const producer: Producer = client.kafka.producer({
    transactionalId: topic,
    transactionTimeout: TRANSACTION_TIMEOUT_MS,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  const session: TransactionSession = {
    async commit(messages) {
      const transaction = await producer.transaction();
      let last = -1;
      try {
        for (const batch of batches(messages)) {
          const [metadata] = await transaction.send({ topic, acks: -1, messages: batch });
          last = Number(metadata?.baseOffset) + batch.length - 1;
        }
      } catch (error) {
        // An open transaction holds readers up. When this fails too, the next session or the broker's time limit ends it.
        await transaction.abort().catch(() => {});
        throw error;
      }
      await transaction.commit();
      return last;
    },
    close: () => producer.disconnect(),
  };
  try {
    await producer.connect();
    // kafkajs registers the producer with its first transaction; without a message nothing else is sent.
    await (await producer.transaction()).abort();
    return session;
  } catch (error) {
    await producer.disconnect().catch(() => {});
    throw error;
  }
}

function* batches(messages: readonly Message[]): Generator<Message[]> {
  let batch: Message[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = message.value?.length ?? 0;
    if (batch.length > 0 && bytes + size > BATCH_BYTES) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(message);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
