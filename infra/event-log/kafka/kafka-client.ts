/** The kafkajs client of this log: limits, retries and logging. */
import kafkajs, { type ISocketFactory, type Kafka, type KafkaConfig, type logCreator } from 'kafkajs';
import type { Logger } from '../../logger.ts';
import { createKafkajsLeaders } from './kafkajs-leader.ts';
import type { TopicLeaders } from './topic-leader.ts';

export interface KafkaClient {
  readonly brokers: readonly string[];
  /** For transactions and topic settings. */
  readonly kafka: Kafka;
  /** For reads. */
  createLeaders(): TopicLeaders;
}

export interface KafkaClientOptions {
  readonly brokers: readonly string[];
  readonly logger: Logger;
  /** For tests that break connections. */
  readonly socketFactory?: ISocketFactory;
}

const CLIENT_ID = 'verustream';
const CONNECTION_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 30_000;
const METADATA_MAX_AGE_MS = 60_000;
// Short, because callers retry too; the default of kafkajs is 300 ms, but a broker needs only a few to end a transaction.
const RETRY = { retries: 5, initialRetryTime: 20, multiplier: 2, maxRetryTime: 1_000 };
/** Retries of a read by kafkajs; kafka-connection.ts retries as well. */
const READ_RETRY = { retries: 2, initialRetryTime: RETRY.initialRetryTime };

/** @throws KafkaClientChanged */
export function createKafkaClient({ brokers, logger, socketFactory }: KafkaClientOptions): KafkaClient {
  const config: KafkaConfig = {
    brokers: [...brokers],
    clientId: CLIENT_ID,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    ...(socketFactory && { socketFactory }),
    logLevel: logger.isLevelEnabled('debug') ? kafkajs.logLevel.INFO : kafkajs.logLevel.NOTHING,
    logCreator: toLogger(logger),
  };
  const reading = new kafkajs.Kafka({ ...config, retry: READ_RETRY });
  const createLeaders = () => createKafkajsLeaders(reading, { metadataMaxAge: METADATA_MAX_AGE_MS });
  // Detects an unusable kafkajs at start instead of at the first read. Does not connect.
  createLeaders();
  return { brokers, kafka: new kafkajs.Kafka({ ...config, retry: RETRY }), createLeaders };
}

/** Logs everything as debug: kafkajs logs as errors what it then retries, and throws the rest to the caller. */
function toLogger(logger: Logger): logCreator {
  return () =>
    ({ namespace, log: { message, timestamp: _, logger: __, ...details } }) =>
      logger.debug({ kafkajs: namespace, ...details }, message);
}
