/** Checks whether these brokers can hold the log, without changing anything. */
import kafkajs, { type Admin } from 'kafkajs';
import { messageOf, PermanentError } from '../../../schemas/errors.ts';
import type { Topic } from '../../../schemas/log-records.ts';
import type { Logger } from '../../logger.ts';
import { partitionName } from '../partition.ts';
import { createKafkaClient } from './kafka-client.ts';
import { toLogError } from './kafka-errors.ts';
import { checkTopic } from './topic-setup.ts';

export interface Partition {
  readonly topic: Topic;
  readonly chain: string;
}

export interface BrokerReport {
  /** Number of brokers in the cluster, which may exceed those configured. */
  readonly brokers: number;
  /** Number of topics that exist. */
  readonly topics: number;
  /** Topics that the first start will create. */
  readonly missing: readonly string[];
  /** Each describes a problem and how to fix it. */
  readonly problems: readonly string[];
}

interface ReplicaSetting {
  readonly name: string;
  readonly why: string;
}

/** If one of these settings exceeds the number of brokers, the broker waits forever or refuses requests. */
const REPLICAS: readonly ReplicaSetting[] = [
  { name: 'default.replication.factor', why: 'no topic can be created' },
  { name: 'transaction.state.log.replication.factor', why: 'no transaction can begin' },
  { name: 'transaction.state.log.min.isr', why: 'no transaction can begin' },
  { name: 'min.insync.replicas', why: 'no record can be appended' },
];

/** @throws LogUnreachable, PermanentError log_forbidden */
export async function inspectBroker(
  options: { readonly brokers: readonly string[]; readonly logger: Logger; readonly topicPrefix?: string },
  partitions: readonly Partition[],
): Promise<BrokerReport> {
  const { topicPrefix = 'verustream' } = options;
  const client = createKafkaClient(options);
  const admin = client.kafka.admin();
  try {
    await admin.connect();
    const { brokers } = await admin.describeCluster();
    const present = new Set(await admin.listTopics());
    const names = partitions.map(({ topic, chain }) => {
      partitionName(topic, chain); // throws for a chain that cannot name a partition
      return { topic, name: `${topicPrefix}.${topic}.${chain}` };
    });
    const problems = await replicaProblems(admin, brokers);
    const there = names.filter(({ name }) => present.has(name));
    for (const { topic, name } of there) problems.push(...(await topicProblem(admin, topic, name)));
    const missing = names.filter(({ name }) => !present.has(name)).map(({ name }) => name);
    return { brokers: brokers.length, topics: there.length, missing, problems };
  } catch (error) {
    throw toLogError(error, client.brokers, 'describe its topics');
  } finally {
    await admin.disconnect();
  }
}

async function topicProblem(admin: Admin, topic: Topic, name: string): Promise<string[]> {
  try {
    await checkTopic(admin, topic, name);
    return [];
  } catch (error) {
    if (error instanceof PermanentError) return [messageOf(error)];
    throw error;
  }
}

async function replicaProblems(admin: Admin, brokers: readonly { nodeId: number }[]): Promise<string[]> {
  const [first] = brokers;
  if (!first) return ['the cluster has no broker'];
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: kafkajs.ConfigResourceTypes.BROKER, name: String(first.nodeId) }],
  });
  const entries = resources[0]?.configEntries ?? [];
  return REPLICAS.flatMap(({ name, why }) => {
    const value = Number(entries.find(({ configName }) => configName === name)?.configValue ?? 1);
    if (value <= brokers.length) return [];
    return [`${name} is ${value} with ${brokers.length} broker(s), so ${why}: set it to at most ${brokers.length}`];
  });
}
