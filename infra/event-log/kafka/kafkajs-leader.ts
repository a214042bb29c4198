/**
 * Fetches without a consumer group on kafkajs, which offers that only to partition assigners: it passes each one the cluster of its
 * consumer, documented and typed, when the consumer is created. This consumer never runs, so no group is created. The answer of a fetch
 * is `any` in the types of kafkajs, so the required members are checked here. Decision 0042.
 */
import { createRequire } from 'node:module';
import type { Cluster, Kafka } from 'kafkajs';
import { KafkaClientChanged } from './kafka-errors.ts';
import type {
  AbortedTransaction,
  FetchedMessage,
  FetchedPartition,
  FetchRequest,
  TopicLeader,
  TopicLeaders,
} from './topic-leader.ts';

type UsedCluster = Pick<
  Cluster,
  'connect' | 'disconnect' | 'addTargetTopic' | 'findLeaderForPartitions' | 'findBroker' | 'fetchTopicsOffset'
>;
type UsedBroker = Pick<Awaited<ReturnType<Cluster['findBroker']>>, 'fetch'>;

interface AnsweredMessage extends Pick<FetchedMessage, 'offset' | 'key' | 'value' | 'headers' | 'isControlRecord'> {
  readonly batchContext: Pick<FetchedMessage, 'producerId' | 'inTransaction'>;
}

interface AnsweredPartition {
  readonly lastStableOffset: string;
  readonly abortedTransactions: readonly unknown[];
  readonly messages: readonly unknown[];
}

export interface KafkajsLeadersOptions {
  readonly metadataMaxAge: number;
}

const READ_COMMITTED = 1;
/** maxWaitTime of a fetch that does not wait; kafkajs derives the time limit of the request from it. */
const NO_WAIT_MS = 30_000;
/** kafkajs requires a group id, but a consumer that does not run never sends it. */
const NO_GROUP = 'verustream-reads-without-a-group';

const { version } = createRequire(import.meta.url)('kafkajs/package.json') as { readonly version: string };

type Check = (value: unknown) => boolean;

/** Members that `T` must have, each with the check of its value. */
type Shape<T> = readonly (readonly [member: keyof T & string, check: Check])[];

const isText: Check = (value) => typeof value === 'string';
const isBoolean: Check = (value) => typeof value === 'boolean';
const isFunction: Check = (value) => typeof value === 'function';
const isBytes: Check = (value) => value === null || Buffer.isBuffer(value);
const isArray: Check = Array.isArray;
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const CLUSTER: Shape<UsedCluster> = [
  ['connect', isFunction],
  ['disconnect', isFunction],
  ['addTargetTopic', isFunction],
  ['findLeaderForPartitions', isFunction],
  ['findBroker', isFunction],
  ['fetchTopicsOffset', isFunction],
];
const BROKER: Shape<UsedBroker> = [['fetch', isFunction]];
const ANSWER: Shape<{ readonly responses: readonly unknown[] }> = [['responses', isArray]];
const TOPIC: Shape<{ readonly partitions: readonly unknown[] }> = [['partitions', isArray]];
const PARTITION: Shape<AnsweredPartition> = [
  ['lastStableOffset', isText],
  ['abortedTransactions', isArray],
  ['messages', isArray],
];
const ABORTED: Shape<AbortedTransaction> = [
  ['producerId', isText],
  ['firstOffset', isText],
];
const MESSAGE: Shape<AnsweredMessage> = [
  ['offset', isText],
  ['key', isBytes],
  ['value', isBytes],
  ['headers', isObject],
  ['isControlRecord', isBoolean],
  ['batchContext', isObject],
];
const BATCH: Shape<AnsweredMessage['batchContext']> = [
  ['producerId', isText],
  ['inTransaction', isBoolean],
];

/** Does not connect yet. @throws KafkaClientChanged */
export function createKafkajsLeaders(kafka: Pick<Kafka, 'consumer'>, options: KafkajsLeadersOptions): TopicLeaders {
  const cluster = clusterOf(kafka, options);

  async function offsetAt(topic: string, fromBeginning: boolean): Promise<number> {
    // The consumer's isolation level is read committed, so the end is the last stable offset.
    const [found] = await cluster.fetchTopicsOffset([{ topic, partitions: [{ partition: 0 }], fromBeginning }]);
    const offset = found?.partitions[0]?.offset;
    if (offset === undefined) throw new Error(`no offset of ${topic} in the answer`);
    return Number(offset);
  }

  return {
    connect: () => cluster.connect(),
    disconnect: () => cluster.disconnect(),
    async leaderOf(topic): Promise<TopicLeader> {
      await cluster.addTargetTopic(topic);
      const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [0]));
      if (nodeId === undefined) throw new Error(`topic ${topic} has no leader`);
      const broker = checked('broker', await cluster.findBroker({ nodeId }), BROKER);
      return {
        fetch: (request) => fetchFrom(broker, topic, request),
        start: () => offsetAt(topic, true),
        end: () => offsetAt(topic, false),
      };
    },
  };
}

function clusterOf(kafka: Pick<Kafka, 'consumer'>, { metadataMaxAge }: KafkajsLeadersOptions): UsedCluster {
  let handed: unknown;
  kafka.consumer({
    groupId: NO_GROUP,
    metadataMaxAge,
    allowAutoTopicCreation: false,
    partitionAssigners: [
      ({ cluster }) => {
        handed = cluster;
        return { name: NO_GROUP, version: 0, assign: neverRuns, protocol: neverRuns };
      },
    ],
  });
  return checked('cluster of a partition assigner', handed, CLUSTER);
}

function neverRuns(): never {
  throw new Error('a consumer that exists only for its connections was run');
}

async function fetchFrom(broker: UsedBroker, topic: string, request: FetchRequest): Promise<FetchedPartition> {
  const { offset, maxBytes, waitMs } = request;
  const answer: unknown = await broker.fetch({
    isolationLevel: READ_COMMITTED,
    maxWaitTime: waitMs || NO_WAIT_MS,
    minBytes: waitMs ? 1 : 0,
    maxBytes,
    topics: [{ topic, partitions: [{ partition: 0, fetchOffset: String(offset), maxBytes }] }],
  });
  const { responses } = checked('answer of a fetch', answer, ANSWER);
  // A broker answers without topics when the client's quota is used up; a later request is served.
  if (responses.length === 0) throw new Error(`the broker withheld the records of ${topic}`);
  const { partitions } = checked('topic of a fetch', responses[0], TOPIC);
  const { lastStableOffset, abortedTransactions, messages } = checked('partition of a fetch', partitions[0], PARTITION);
  return {
    lastStableOffset,
    abortedTransactions: abortedTransactions.map((aborted) => checked('aborted transaction', aborted, ABORTED)),
    messages: messages.map(fetchedMessage),
  };
}

function fetchedMessage(answered: unknown): FetchedMessage {
  const { offset, key, value, headers, isControlRecord, batchContext } = checked('message', answered, MESSAGE);
  const { producerId, inTransaction } = checked('batch of a message', batchContext, BATCH);
  return { offset, key, value, headers, isControlRecord, producerId, inTransaction };
}

/** @throws KafkaClientChanged that names the first member that is missing or has another type */
function checked<T>(what: string, value: unknown, shape: Shape<T>): T {
  if (!isObject(value)) throw new KafkaClientChanged(version, `has no ${what}`);
  for (const [member, check] of shape) {
    if (!check(value[member])) throw new KafkaClientChanged(version, `has another ${member} in the ${what}`);
  }
  return value as T;
}
