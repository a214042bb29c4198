/**
 * What kafkajs has inside and does not export: fetching from an offset without a consumer group. A group costs a
 * rebalance per reader and has no way to ask for one offset; the version is pinned, since insides may change.
 */
import { createRequire } from 'node:module';
import type { ISocketFactory, Kafka } from 'kafkajs';

/** A record as the broker holds it; offsets are decimal text. */
export interface RawMessage {
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer | undefined>>;
  readonly isControlRecord: boolean;
  readonly batchContext: { readonly producerId: string; readonly inTransaction: boolean };
}

export interface AbortedTransaction {
  readonly producerId: string;
  readonly firstOffset: string;
}

export interface FetchedPartition {
  readonly lastStableOffset: string;
  readonly abortedTransactions: readonly AbortedTransaction[];
  readonly messages: readonly RawMessage[];
}

export interface Broker {
  fetch(request: {
    readonly replicaId: -1;
    readonly isolationLevel: number;
    readonly maxWaitTime: number;
    readonly minBytes: number;
    readonly maxBytes: number;
    readonly topics: readonly {
      readonly topic: string;
      readonly partitions: readonly {
        partition: number;
        fetchOffset: string;
        maxBytes: number;
        currentLeaderEpoch: -1;
      }[];
    }[];
  }): Promise<{ readonly responses: readonly { readonly partitions: readonly FetchedPartition[] }[] }>;
  listOffsets(request: {
    readonly replicaId: -1;
    readonly isolationLevel: number;
    readonly topics: readonly {
      readonly topic: string;
      readonly partitions: readonly { readonly partition: number; readonly timestamp: string }[];
    }[];
  }): Promise<{ readonly responses: readonly { readonly partitions: readonly { readonly offset: string }[] }[] }>;
}

export interface Cluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addTargetTopic(topic: string): Promise<void>;
  /** Node id → partitions. */
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Readonly<Record<string, readonly number[]>>;
  findBroker(node: { readonly nodeId: string }): Promise<Broker>;
}

interface ClusterOptions {
  readonly logger: ReturnType<Kafka['logger']>;
  readonly socketFactory: ISocketFactory;
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly connectionTimeout: number;
  readonly requestTimeout: number;
  readonly enforceRequestTimeout: boolean;
  readonly metadataMaxAge: number;
  readonly retry: { readonly retries: number; readonly initialRetryTime: number };
  readonly allowAutoTopicCreation: boolean;
  readonly maxInFlightRequests: null;
}

const require = createRequire(import.meta.url);
const ClusterClass = require('kafkajs/src/cluster/index.js') as new (options: ClusterOptions) => Cluster;

export const defaultSocketFactory = require('kafkajs/src/network/socketFactory.js') as () => ISocketFactory;

export function createCluster(options: ClusterOptions): Cluster {
  return new ClusterClass(options);
}
