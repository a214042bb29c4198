/** The port for reading a topic: fetches at any offset without a consumer group, and the ends of the topic. */

/** A message as the broker stores it; may be the marker of a transaction. Offsets are decimal text. */
export interface FetchedMessage {
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** A header that occurs once is a Buffer. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** Written by the broker: a transaction was committed or aborted. */
  readonly isControlRecord: boolean;
  readonly producerId: string;
  readonly inTransaction: boolean;
}

export interface AbortedTransaction {
  readonly producerId: string;
  readonly firstOffset: string;
}

export interface FetchedPartition {
  /** Transactions at or after this offset are not decided yet. */
  readonly lastStableOffset: string;
  /** Aborted transactions among the messages; empty if the client itself hides aborted messages. */
  readonly abortedTransactions: readonly AbortedTransaction[];
  /** Whole batches: the first may begin before the requested offset. */
  readonly messages: readonly FetchedMessage[];
}

export interface FetchRequest {
  readonly offset: number;
  /** Soft limit: the broker returns at least one batch, whatever its size. */
  readonly maxBytes: number;
  /** How long the broker waits for new messages before it answers; 0 to answer at once. */
  readonly waitMs: number;
}

/** The broker that leads the topic's only partition. Throws protocol errors in the form that kafka-errors.ts reads. */
export interface TopicLeader {
  fetch(request: FetchRequest): Promise<FetchedPartition>;
  /** Returns the first offset that is still kept. */
  start(): Promise<number>;
  /** Returns the offset after the last decided message. */
  end(): Promise<number>;
}

/** A separate set of connections, because a broker answers the requests of one connection in order. */
export interface TopicLeaders {
  connect(): Promise<void>;
  leaderOf(topic: string): Promise<TopicLeader>;
  disconnect(): Promise<void>;
}
