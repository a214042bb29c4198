/** The kafkajs client of this log: its limits, its retries, its log lines. */
import kafkajs, { type ISocketFactory, type Kafka, type logCreator } from 'kafkajs';
import type { Logger } from '../../logger.ts';
import { type Cluster, createCluster, defaultSocketFactory } from './kafkajs-cluster.ts';

export interface KafkaClient {
  readonly brokers: readonly string[];
  readonly kafka: Kafka;
  /** A set of connections of its own: a broker answers the requests of one connection in order. */
  createCluster(): Cluster;
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

export function createKafkaClient({
  brokers,
  logger,
  socketFactory = defaultSocketFactory(),
}: KafkaClientOptions): KafkaClient {
  const kafka = new kafkajs.Kafka({
    brokers: [...brokers],
    clientId: CLIENT_ID,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    retry: RETRY,
    socketFactory,
    logLevel: logger.isLevelEnabled('debug') ? kafkajs.logLevel.INFO : kafkajs.logLevel.NOTHING,
    logCreator: toLogger(logger),
  });
  return {
    brokers,
    kafka,
    createCluster: () =>
      createCluster({
        logger: kafka.logger(),
        socketFactory,
        brokers,
        clientId: CLIENT_ID,
        connectionTimeout: CONNECTION_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        enforceRequestTimeout: true,
        metadataMaxAge: METADATA_MAX_AGE_MS,
        retry: { retries: 2, initialRetryTime: RETRY.initialRetryTime },
        allowAutoTopicCreation: false,
        maxInFlightRequests: null,
      }),
  };
}

/** kafkajs calls an error what it then retries; what is left reaches the caller as an exception. So all of it is detail. */
function toLogger(logger: Logger): logCreator {
  return () =>
    ({ namespace, log: { message, timestamp: _, logger: __, ...details } }) =>
      logger.debug({ kafkajs: namespace, ...details }, message);
}
