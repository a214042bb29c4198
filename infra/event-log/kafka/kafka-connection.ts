/** Requests to the broker that leads a topic, over connections that are made again when they fail. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LogClosed } from '../log-errors.ts';
import type { KafkaClient } from './kafka-client.ts';
import { protocolErrorType, toLogError } from './kafka-errors.ts';
import type { Broker, Cluster } from './kafkajs-cluster.ts';

export interface KafkaConnection {
  /**
   * Sends `request` to the leader of the topic's only partition; null when there is no such topic (yet).
   * @throws LogUnreachable, and OFFSET_OUT_OF_RANGE of kafkajs as it is
   */
  withLeader<T>(topic: string, action: string, request: (leader: Broker) => Promise<T>): Promise<T | null>;
  close(): Promise<void>;
}

const PAUSES_MS = [50, 200, 500];

export function createKafkaConnection(client: KafkaClient): KafkaConnection {
  let cluster: Promise<Cluster> | null = null;
  let closed = false;

  async function connect(): Promise<Cluster> {
    const made = client.createCluster();
    await made.connect();
    return made;
  }

  async function disconnect(): Promise<void> {
    const old = cluster;
    cluster = null;
    // A connection that is given up may fail to close, too.
    await old?.then((made) => made.disconnect()).catch(() => {});
  }

  async function attempt<T>(topic: string, request: (leader: Broker) => Promise<T>): Promise<T> {
    cluster ??= connect();
    const connected = await cluster;
    await connected.addTargetTopic(topic);
    const [nodeId] = Object.keys(connected.findLeaderForPartitions(topic, [0]));
    if (nodeId === undefined) throw new Error(`topic ${topic} has no leader`);
    return request(await connected.findBroker({ nodeId }));
  }

  return {
    async withLeader(topic, action, request) {
      for (const pause of [...PAUSES_MS, null]) {
        if (closed) throw new LogClosed('the Kafka log');
        const used = cluster;
        try {
          return await attempt(topic, request);
        } catch (error) {
          const type = protocolErrorType(error);
          if (type === 'OFFSET_OUT_OF_RANGE') throw error;
          if (type === 'UNKNOWN_TOPIC_OR_PARTITION') return null;
          // Another request may have made new connections since.
          if (used === null || used === cluster) await disconnect();
          if (pause === null) throw toLogError(error, client.brokers, action);
          await sleep(pause);
        }
      }
      throw new LogClosed('the Kafka log');
    },
    async close() {
      closed = true;
      await disconnect();
    },
  };
}
