/** Sends requests to the broker that leads a topic, over connections that are reopened when they fail. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PermanentError } from '../../../schemas/errors.ts';
import { LogClosed } from '../log-errors.ts';
import type { KafkaClient } from './kafka-client.ts';
import { protocolErrorType, toLogError } from './kafka-errors.ts';
import type { TopicLeader, TopicLeaders } from './topic-leader.ts';

export interface KafkaConnection {
  /**
   * Sends `request` to the leader of the topic's only partition. Returns null if the topic does not exist (yet).
   * @throws LogUnreachable, KafkaClientChanged, LogClosed, or the OFFSET_OUT_OF_RANGE error of kafkajs unchanged
   */
  withLeader<T>(topic: string, action: string, request: (leader: TopicLeader) => Promise<T>): Promise<T | null>;
  close(): Promise<void>;
}

const PAUSES_MS = [50, 200, 500];

export function createKafkaConnection(client: KafkaClient): KafkaConnection {
  let leaders: Promise<TopicLeaders> | null = null;
  let closed = false;

  async function connect(): Promise<TopicLeaders> {
    const made = client.createLeaders();
    await made.connect();
    return made;
  }

  async function disconnect(): Promise<void> {
    const old = leaders;
    leaders = null;
    // Closing an abandoned connection may fail, too.
    await old?.then((made) => made.disconnect()).catch(() => {});
  }

  async function attempt<T>(topic: string, request: (leader: TopicLeader) => Promise<T>): Promise<T> {
    leaders ??= connect();
    return request(await (await leaders).leaderOf(topic));
  }

  return {
    async withLeader(topic, action, request) {
      for (const pause of [...PAUSES_MS, null]) {
        if (closed) throw new LogClosed('the Kafka log');
        const used = leaders;
        try {
          return await attempt(topic, request);
        } catch (error) {
          if (error instanceof PermanentError) throw error;
          const type = protocolErrorType(error);
          if (type === 'OFFSET_OUT_OF_RANGE') throw error;
          if (type === 'UNKNOWN_TOPIC_OR_PARTITION') return null;
          // Another request may have opened new connections meanwhile.
          if (used === null || used === leaders) await disconnect();
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
