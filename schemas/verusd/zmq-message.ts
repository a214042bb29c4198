/** Messages of a daemon's publisher: topic, body, and a number that grows by one with each message of the topic. */
import { asBuffer } from '../../domain/as-buffer.ts';

export const ZMQ_TOPICS = ['hashblock', 'hashtx', 'sequence'] as const;
export type ZmqTopic = (typeof ZMQ_TOPICS)[number];

export type DaemonNotification =
  /** The tip of the best chain is now this block; of several blocks at once, only the last may be named. */
  | { readonly kind: 'block'; readonly hash: string }
  /** A transaction entered the mempool or a block. */
  | { readonly kind: 'tx'; readonly txid: string }
  /** Topic `sequence`, which only newer daemons publish: each change of mempool and chain, in order. */
  | { readonly kind: 'sequence'; readonly change: 'block_connected' | 'block_disconnected'; readonly hash: string }
  | {
      readonly kind: 'sequence';
      readonly change: 'tx_added' | 'tx_removed';
      readonly txid: string;
      /** Grows by one with each change of this daemon's mempool. */
      readonly mempoolSequence: bigint;
    }
  /** The connection began or messages were dropped: the reader must query the daemon for what it missed. */
  | { readonly kind: 'missed' };

export interface ZmqMessage {
  readonly topic: ZmqTopic;
  /** From 0 to 2^32 - 1, then from 0 again. */
  readonly number: number;
  readonly notification: DaemonNotification;
}

const HASH_BYTES = 32;
const NUMBER_BYTES = 4;
const MEMPOOL_NUMBER_BYTES = 8;

/** Returns the block that a notification names as connected to the best chain; null when it names none. */
export function connectedBlock(notification: DaemonNotification): string | null {
  if (notification.kind === 'block') return notification.hash;
  return notification.kind === 'sequence' && notification.change === 'block_connected' ? notification.hash : null;
}

/** Returns null when the frames are not a message of these topics. */
export function readZmqMessage(frames: readonly Uint8Array[]): ZmqMessage | null {
  const [topicFrame, body, numberFrame] = frames.map((frame) => asBuffer(frame));
  if (frames.length !== 3 || !topicFrame || !body || numberFrame?.length !== NUMBER_BYTES) return null;
  const topic = ZMQ_TOPICS.find((known) => known === topicFrame.toString('latin1'));
  const notification = topic && readBody(topic, body);
  return notification ? { topic, number: numberFrame.readUInt32LE(), notification } : null;
}

function readBody(topic: ZmqTopic, body: Buffer): DaemonNotification | null {
  if (body.length < HASH_BYTES) return null;
  const hash = body.toString('hex', 0, HASH_BYTES);
  const rest = body.subarray(HASH_BYTES);
  if (topic === 'sequence') return readChange(hash, rest);
  if (rest.length > 0) return null;
  return topic === 'hashblock' ? { kind: 'block', hash } : { kind: 'tx', txid: hash };
}

function readChange(hash: string, rest: Buffer): DaemonNotification | null {
  const letter = rest.toString('latin1', 0, 1);
  if (rest.length === 1) {
    if (letter === 'C') return { kind: 'sequence', change: 'block_connected', hash };
    return letter === 'D' ? { kind: 'sequence', change: 'block_disconnected', hash } : null;
  }
  const change = letter === 'A' ? 'tx_added' : letter === 'R' ? 'tx_removed' : null;
  if (!change || rest.length !== 1 + MEMPOOL_NUMBER_BYTES) return null;
  return { kind: 'sequence', change, txid: hash, mempoolSequence: rest.readBigUInt64LE(1) };
}

/** The frames that a daemon sends. */
export function zmqFrames(topic: ZmqTopic, hash: string, number: number): [string, Buffer, Buffer] {
  const sent = Buffer.alloc(NUMBER_BYTES);
  sent.writeUInt32LE(number);
  return [topic, Buffer.from(hash, 'hex'), sent];
}
