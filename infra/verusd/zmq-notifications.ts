/**
 * Receives what a chain's daemons publish over ZMQ: `hashblock`, `hashtx`, and `sequence` from newer daemons. Connecting succeeds even if
 * nothing is published, so a publisher counts as heard only after it has announced a block, and until it misses one.
 */
import { LRUCache } from 'lru-cache';
import type { Subscriber } from 'zeromq';
import type { PublisherState, PublisherStatus } from '../../schemas/daemon-status.ts';
import {
  connectedBlock,
  type DaemonNotification,
  readZmqMessage,
  ZMQ_TOPICS,
} from '../../schemas/verusd/zmq-message.ts';
import type { Logger } from '../logger.ts';
import { metrics } from '../metrics.ts';
import type { DaemonNotifications } from './daemon-notifications.ts';

export interface ZmqNotificationsOptions {
  readonly chain: string;
  /** One address per daemon, in configuration order; null for a daemon that publishes nothing. */
  readonly addresses: readonly (string | null)[];
  readonly blockSeconds: number;
  readonly logger: Logger;
}

/** A publisher that announces no block for this many block times after the connection counts as silent. */
const FIRST_WORD_BLOCKS = 2;
/** Grace for announcing a block that was found otherwise, at most one block time: daemons, and calls to one, may be this far apart. */
const LONGEST_GRACE_MS = 10_000;
/** Number of recently announced blocks that are remembered. */
const KEPT_BLOCKS = 64;
/** Frames are hashes: a publisher that sends longer frames is disconnected for good. Messages beyond the queue's length are dropped. */
const BOUNDS = { maxMessageSize: 256, receiveHighWaterMark: 10_000 };
const CONNECTION = { linger: 0, reconnectInterval: 250, reconnectMaxInterval: 5_000 };
/** The heartbeat detects a connection that was lost without being closed. */
const HEARTBEAT = { heartbeatInterval: 5_000, heartbeatTimeout: 10_000 };

interface Publisher {
  readonly place: number;
  readonly socket: Subscriber;
  /** Topic → number of its last message. */
  readonly numbers: Map<string, number>;
  readonly blocks: LRUCache<string, true>;
  state: PublisherState;
  heardAt: Date | null;
  timer: NodeJS.Timeout | undefined;
}

/** @throws the import error of the zeromq binding if it has no binary for this machine */
export async function openZmqNotifications(options: ZmqNotificationsOptions): Promise<DaemonNotifications> {
  const { chain, addresses, blockSeconds, logger } = options;
  const zmq = await import('zeromq');
  const listeners = new Set<(notification: DaemonNotification, daemon: number) => void>();
  const graceMs = Math.min(LONGEST_GRACE_MS, blockSeconds * 1000);
  let closed = false;

  function enter(publisher: Publisher, state: PublisherState): void {
    clearTimeout(publisher.timer);
    if (state === 'unheard') {
      publisher.timer = setTimeout(enter, FIRST_WORD_BLOCKS * blockSeconds * 1000, publisher, 'silent').unref();
    }
    if (publisher.state === state) return;
    publisher.state = state;
    const labels = { chain, daemon: String(publisher.place) };
    metrics.daemonPublisherHeard.set(labels, state === 'heard' ? 1 : 0);
    const level = state === 'silent' ? 'warn' : 'info';
    logger[level]({ ...labels, state }, `the ZMQ publisher of daemon ${publisher.place} of ${chain} is ${state}`);
  }

  function hear(publisher: Publisher, notification: DaemonNotification): void {
    const block = connectedBlock(notification);
    if (block !== null) {
      publisher.blocks.set(block, true);
      publisher.heardAt = new Date();
      enter(publisher, 'heard');
    }
    for (const listener of listeners) listener(notification, publisher.place);
  }

  async function receive(publisher: Publisher): Promise<void> {
    const labels = { chain, daemon: String(publisher.place) };
    for await (const frames of publisher.socket) {
      const message = readZmqMessage(frames);
      metrics.daemonNotifications.inc({ ...labels, topic: message?.topic ?? 'unknown' });
      if (!message) {
        logger.debug({ ...labels, frames: frames.length }, 'ignored an unknown ZMQ message');
        continue;
      }
      const last = publisher.numbers.get(message.topic);
      publisher.numbers.set(message.topic, message.number);
      if (last !== undefined && message.number !== (last + 1) % 2 ** 32) hear(publisher, { kind: 'missed' });
      hear(publisher, message.notification);
    }
  }

  function open(address: string, place: number): Publisher {
    const socket = new zmq.Subscriber({ ...BOUNDS, ...CONNECTION, ...HEARTBEAT });
    const publisher: Publisher = {
      place,
      socket,
      numbers: new Map(),
      blocks: new LRUCache({ max: KEPT_BLOCKS }),
      state: 'unreachable',
      heardAt: null,
      timer: undefined,
    };
    metrics.daemonPublisherHeard.set({ chain, daemon: String(place) }, 0);
    socket.events.on('handshake', () => {
      if (closed) return;
      publisher.numbers.clear();
      enter(publisher, 'unheard');
      hear(publisher, { kind: 'missed' });
    });
    socket.events.on('disconnect', () => {
      if (!closed) enter(publisher, 'unreachable');
    });
    socket.connect(address);
    for (const topic of ZMQ_TOPICS) socket.subscribe(topic);
    return publisher;
  }

  const publishers = addresses.map((address, index) => (address === null ? null : open(address, index + 1)));
  const opened = publishers.filter((publisher) => publisher !== null);
  const receiving = opened.map(receive);
  return {
    subscribe(heard) {
      listeners.add(heard);
      return () => void listeners.delete(heard);
    },
    publishers: () =>
      publishers.map(
        (publisher): PublisherStatus | null =>
          publisher && { state: publisher.state, heardAt: publisher.heardAt?.toISOString() ?? null },
      ),
    saw(hash) {
      const at = new Date();
      for (const publisher of opened) {
        if (publisher.blocks.has(hash)) continue;
        setTimeout(() => {
          const isNamed = publisher.blocks.has(hash) || (publisher.heardAt !== null && publisher.heardAt > at);
          const isConnected = publisher.state === 'heard' || publisher.state === 'unheard';
          if (!closed && isConnected && !isNamed) enter(publisher, 'silent');
        }, graceMs).unref();
      }
    },
    async close() {
      closed = true;
      for (const { socket, timer } of opened) {
        clearTimeout(timer);
        socket.close();
      }
      await Promise.all(receiving);
    },
  };
}
