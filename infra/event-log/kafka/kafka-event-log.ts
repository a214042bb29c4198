/** The log on Kafka: one single-partition Kafka topic per topic and chain, such as `verustream.blocks.vrsc`. */
import type { ISocketFactory } from 'kafkajs';
import { getOrInsert } from '../../../domain/get-or-insert.ts';
import type { Topic } from '../../../schemas/log-records.ts';
import type { Logger } from '../../logger.ts';
import type { EventLog, LogWriter } from '../event-log.ts';
import { LogClosed } from '../log-errors.ts';
import { partitionName } from '../partition.ts';
import { createKafkaClient } from './kafka-client.ts';
import { createKafkaConnection, type KafkaConnection } from './kafka-connection.ts';
import { openKafkaWriter } from './kafka-writer.ts';
import { createPartitionFetcher, type PartitionFetcher } from './partition-fetcher.ts';
import { createPartitionReader, type PartitionReader } from './partition-reader.ts';
import { createTailWatch, type TailWatch } from './tail-watch.ts';
import { ensureTopic } from './topic-setup.ts';

export interface KafkaEventLogOptions {
  /** host:port */
  readonly brokers: readonly string[];
  readonly logger: Logger;
  /** Prefix of every topic and transactional id. */
  readonly topicPrefix?: string;
  /** For tests that break connections. */
  readonly socketFactory?: ISocketFactory;
}

interface Partition {
  readonly name: string;
  readonly kafkaTopic: string;
  readonly fetcher: PartitionFetcher;
  readonly reader: PartitionReader;
  readonly watch: TailWatch;
  readonly watchConnection: KafkaConnection;
}

/** Connects on first use and reconnects after failures; calls throw LogUnreachable while that fails. */
export function createKafkaEventLog(options: KafkaEventLogOptions): EventLog {
  const { logger, topicPrefix = 'verustream' } = options;
  const client = createKafkaClient(options);
  const connection = createKafkaConnection(client);
  const partitions = new Map<string, Partition>();
  const writers = new Set<LogWriter>();
  let closed = false;

  function partitionOf(topic: Topic, chain: string): Partition {
    if (closed) throw new LogClosed('the Kafka log');
    const name = partitionName(topic, chain);
    return getOrInsert(partitions, name, () => {
      const kafkaTopic = `${topicPrefix}.${topic}.${chain}`;
      const fetcher = createPartitionFetcher(connection, kafkaTopic);
      const reader = createPartitionReader(fetcher, name);
      const watchConnection = createKafkaConnection(client);
      const watch = createTailWatch(createPartitionFetcher(watchConnection, kafkaTopic), reader);
      return { name, kafkaTopic, fetcher, reader, watch, watchConnection };
    });
  }

  return {
    async openWriter(topic, chain) {
      const { name, kafkaTopic, fetcher, reader, watch } = partitionOf(topic, chain);
      await ensureTopic(client, topic, kafkaTopic);
      const writer = await openKafkaWriter({
        client,
        logger,
        topic: kafkaTopic,
        partition: name,
        reader,
        fetcher,
        onAppended: watch.grew,
        onClosed: (ended) => writers.delete(ended),
      });
      writers.add(writer);
      return writer;
    },
    async last(topic, chain) {
      const tail = await partitionOf(topic, chain).reader.tail();
      return tail?.last ? { position: tail.last.position, payload: tail.last.payload } : null;
    },
    async read(topic, chain, position, limits) {
      return partitionOf(topic, chain).reader.read(position, limits);
    },
    async waitFor(topic, chain, position, timeoutMs, signal) {
      if (!closed) await partitionOf(topic, chain).watch.waitFor(position, timeoutMs, signal);
    },
    async close() {
      if (closed) return;
      closed = true;
      for (const { watch } of partitions.values()) watch.close();
      await Promise.all([...writers].map((writer) => writer.close()));
      const connections = [connection, ...[...partitions.values()].map((partition) => partition.watchConnection)];
      await Promise.all(connections.map((open) => open.close()));
    },
  };
}
