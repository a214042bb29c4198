/** The kafkajs client of this log: its limits, its retries, its log lines. */
import kafkajs, { type ISocketFactory, type Kafka, type KafkaConfig, type logCreator } from 'kafkajs';
import type { Logger } from '../../logger.ts';
import { createKafkajsLeaders } from './kafkajs-leader.ts';
import type { TopicLeaders } from './topic-leader.ts';

export interface KafkaClient {
  readonly brokers: readonly string[];
  /** For transactions and the settings of topics. */
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
// Short, since callers retry; kafkajs would wait 300 ms where a broker that ends a transaction needs a few.
const RETRY = { retries: 5, initialRetryTime: 20, multiplier: 2, maxRetryTime: 1_000 };
/** Retries of a read by its connection. */
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
  // A kafkajs that cannot read is refused at the start, not at the first read; nothing is connected by this.
  createLeaders();
  return { brokers, kafka: new kafkajs.Kafka({ ...config, retry: RETRY }), createLeaders };
}

/** kafkajs calls an error what it then retries; what is left reaches the caller as an exception. So all of it is detail. */
function toLogger(logger: Logger): logCreator {
  return () =>
    ({ namespace, log: { message, timestamp: _, logger: __, ...details } }) =>
      logger.debug({ kafkajs: namespace, ...details }, message);
}
