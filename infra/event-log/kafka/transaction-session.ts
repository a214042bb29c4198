/** One transactional producer. Once it is open, older producers with the same id can no longer commit, and what they committed is final. */
import kafkajs, { type Message, type Producer } from 'kafkajs';
import type { KafkaClient } from './kafka-client.ts';

export interface TransactionSession {
  /** Commits all messages or none, and resolves when the broker has decided. Returns the offset of the last message. */
  commit(messages: readonly Message[]): Promise<number>;
  close(): Promise<void>;
}

/** Below the broker's transaction limit of 15 minutes. The open transaction of a dead writer blocks readers for this long. */
const TRANSACTION_TIMEOUT_MS = 60_000;
/** Bytes of one request: each batch of a producer is one request, and readers receive whole batches. */
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
        // An open transaction blocks readers. If the abort fails too, the next session or the broker's time limit ends it.
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
    // kafkajs registers the producer with its first transaction; without messages it sends nothing else.
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
