/** Creates the Kafka topic of a partition, or checks an existing one: `blocks` is the only source of truth and must never expire. */
import kafkajs, { type Admin, type ConfigEntries } from 'kafkajs';
import { PermanentError } from '../../../schemas/errors.ts';
import type { Topic } from '../../../schemas/log-records.ts';
import { MAX_RECORD_BYTES } from '../limits.ts';
import type { KafkaClient } from './kafka-client.ts';
import { toLogError } from './kafka-errors.ts';

/** The largest record with its key, its headers, and the batch around it. */
export const MAX_MESSAGE_BYTES = MAX_RECORD_BYTES + 64 * 1024;

/** Retention by size, never by time: the newest segment stays, so that a chain without blocks for a long time keeps its last position. */
const DERIVED_RETENTION_BYTES = 16 * 1024 ** 3;

interface Setting {
  readonly name: string;
  /** Value for a new topic. */
  readonly value: string;
  readonly isRight: (value: string) => boolean;
}

function settingsOf(topic: Topic): Setting[] {
  const exactly = (name: string, value: string): Setting => ({ name, value, isRight: (actual) => actual === value });
  const messageBytes: Setting = {
    name: 'max.message.bytes',
    value: String(MAX_MESSAGE_BYTES),
    isRight: (actual) => Number(actual) >= MAX_MESSAGE_BYTES,
  };
  const common = [exactly('cleanup.policy', 'delete'), messageBytes];
  if (topic === 'blocks') return [...common, exactly('retention.ms', '-1'), exactly('retention.bytes', '-1')];
  const anySize: Setting = { name: 'retention.bytes', value: String(DERIVED_RETENTION_BYTES), isRight: () => true };
  return [...common, exactly('retention.ms', '-1'), anySize];
}

/** @throws PermanentError log_topic_settings with the command that corrects the settings, LogUnreachable */
export async function ensureTopic(client: KafkaClient, topic: Topic, name: string): Promise<void> {
  const admin = client.kafka.admin();
  try {
    await admin.connect();
    await createTopic(admin, topic, name);
    await checkTopic(admin, topic, name);
  } catch (error) {
    throw toLogError(error, client.brokers, `make or check topic ${name}`);
  } finally {
    await admin.disconnect();
  }
}

async function createTopic(admin: Admin, topic: Topic, name: string): Promise<void> {
  if ((await admin.listTopics()).includes(name)) return;
  const configEntries = settingsOf(topic).map(({ name: setting, value }) => ({ name: setting, value }));
  // Returns false without an error if another process was faster. The number of replicas is the broker's default.
  await admin.createTopics({ topics: [{ topic: name, numPartitions: 1, configEntries }], waitForLeaders: true });
}

/** @throws PermanentError log_topic_settings */
export async function checkTopic(admin: Admin, topic: Topic, name: string): Promise<void> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [name] });
  const partitions = topics[0]?.partitions.length ?? 0;
  if (partitions !== 1) {
    const message = `Kafka topic ${name} has ${partitions} partitions instead of 1: delete it, or let the program that owns it use another name`;
    throw new PermanentError('log_topic_settings', message);
  }
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name }],
  });
  const entries = resources[0]?.configEntries ?? [];
  const wrong = settingsOf(topic).filter((setting) => !setting.isRight(configured(entries, setting.name)));
  if (wrong.length === 0) return;
  const found = wrong.map((setting) => `${setting.name} is ${configured(entries, setting.name)}`).join(', ');
  const right = wrong.map((setting) => `${setting.name}=${setting.value}`).join(',');
  const command = `kafka-configs.sh --alter --entity-type topics --entity-name ${name} --add-config ${right}`;
  throw new PermanentError(
    'log_topic_settings',
    `Kafka topic ${name} would lose or refuse records: ${found}. Run: ${command}`,
  );
}

function configured(entries: readonly ConfigEntries[], name: string): string {
  return entries.find((entry) => entry.configName === name)?.configValue ?? 'not set';
}
