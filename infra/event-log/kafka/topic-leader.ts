/** What reading asks of a Kafka client: a fetch at any offset, without a consumer group, and the ends of a topic. */

/** A message as the broker holds it, a transaction's marker included. Offsets are decimal text. */
export interface FetchedMessage {
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** A header that came once is a Buffer. */
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
  /** Nothing at or behind it is decided yet. */
  readonly lastStableOffset: string;
  /** Aborted transactions among those messages; empty if the client hides aborted messages itself. */
  readonly abortedTransactions: readonly AbortedTransaction[];
  /** Whole batches: the first one may begin before the offset that was asked for. */
  readonly messages: readonly FetchedMessage[];
}

export interface FetchRequest {
  readonly offset: number;
  /** At least one batch comes, whatever its size. */
  readonly maxBytes: number;
  /** How long the broker holds the answer back while there is nothing; 0: it answers at once. */
  readonly waitMs: number;
}

/** The broker that leads the topic's only partition. Errors of the protocol come as kafka-errors.ts reads them. */
export interface TopicLeader {
  fetch(request: FetchRequest): Promise<FetchedPartition>;
  /** The first offset that is kept. */
  start(): Promise<number>;
  /** The offset behind the last decided message. */
  end(): Promise<number>;
}

/** A set of connections of its own: a broker answers the requests of one connection in order. */
export interface TopicLeaders {
  connect(): Promise<void>;
  leaderOf(topic: string): Promise<TopicLeader>;
  disconnect(): Promise<void>;
}
