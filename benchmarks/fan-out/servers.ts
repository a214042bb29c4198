/** Two servers that publish the same events: the push stream, and uWebSockets.js' own publish of prepared bytes. */
import { App, type TemplatedApp, us_listen_socket_close, us_socket_local_port } from 'uWebSockets.js';
import { pino } from 'pino';
import type { ChainFeed, FeedRecord } from '../../api/push/chain-feed.ts';
import { createConnection } from '../../api/push/connection.ts';
import { encodePlaces } from '../../api/push/cursor.ts';
import { createHub } from '../../api/push/hub.ts';
import { createNetworkShares } from '../../api/push/network-share.ts';
import type { PushConnection } from '../../api/push/push-connection.ts';
import { eventMessage, pushEvent } from '../../api/push/push-event.ts';
import { type SocketData, socketBehavior } from '../../api/push/register-push.ts';

export interface FanOut {
  readonly port: number;
  /** Number of messages that every client receives before the first event. */
  readonly greeting: number;
  /** The message with which a client subscribes to all events. */
  readonly say?: string;
  /** Publishes one record of this many events, each `padding` bytes longer. */
  publish(events: number, padding?: number): void;
  /** Bytes that the sockets have not accepted yet. */
  buffered(): number;
  clients(): number;
  close(): void;
}

const CHAIN = 'vrsc';
/** Enough networks that none of them reaches its limits. */
const NETWORKS = 100;
const SLOW_MS = 10_000;
const TICK_MS = 500;
const logger = pino({ level: 'silent' });

/** An event like that of a transaction: about 400 bytes as a message. */
const dataOf = (position: number, index: number, padding: number) => {
  const hash = `${position}`.padStart(64, '0');
  const data = {
    txid: hash,
    height: position,
    time: 1_700_000_000 + position,
    type: 'transfer',
    types: ['transfer'],
    fee: 0.0001,
    size: 500 + index,
    block: hash,
    ...(padding > 0 && { padding: 'x'.repeat(padding) }),
  };
  // The clients compute the latency from it.
  return index === 0 ? { ...data, sentAt: Number(process.hrtime.bigint()) } : data;
};

const recordOf = (position: number, events: number, padding = 0): FeedRecord => ({
  position,
  change: { kind: 'block', height: position },
  bytes: 0,
  events: Array.from({ length: events }, (_, index) =>
    pushEvent({
      topic: 'facts',
      chain: CHAIN,
      place: { position, index },
      channel: 'txs',
      type: 'tx',
      data: () => JSON.stringify(dataOf(position, index, padding)),
    }),
  ),
});

export async function pushStream(): Promise<FanOut> {
  const kept: FeedRecord[] = [];
  const feed: ChainFeed = {
    chain: CHAIN,
    key: CHAIN,
    get head() {
      return kept.length;
    },
    tip: null,
    recent: (position) => kept[position],
    load: async () => [],
    end: async () => kept.length,
    headIn: async () => kept.length,
    join: () => undefined,
  };
  const hub = createHub({ chains: [CHAIN], feeds: [feed], idsOf: (text) => [text], logger });
  const connections = new Set<PushConnection>();
  const shares = createNetworkShares();
  const app = App().ws<SocketData>('/api/ws', {
    ...socketBehavior(
      {
        connect(transport, first, share) {
          const timing = { graceMs: 250, heartbeatMs: 15_000, slowMs: SLOW_MS };
          const connection = createConnection({ hub, transport, first, share, ...timing });
          hub.add(connection);
          connections.add(connection);
          return connection;
        },
        disconnect(connection) {
          connection.closed();
          hub.remove(connection);
          connections.delete(connection);
        },
      },
      logger,
    ),
    upgrade: (res, req, context) => {
      const key = req.getHeader('sec-websocket-key');
      const share = shares.open(String(connections.size % NETWORKS));
      res.upgrade<SocketData>({ first: { channels: ['txs'] }, share, connection: null }, key, '', '', context);
    },
  });
  const timer = setInterval(() => {
    for (const connection of connections) connection.tick(performance.now());
  }, TICK_MS);
  const { port, close } = await listening(app);
  return {
    port,
    greeting: 1,
    publish(events, padding) {
      const record = recordOf(kept.length, events, padding);
      kept.push(record);
      hub.publish(feed, record);
    },
    buffered: () => [...connections].reduce((sum, connection) => sum + connection.buffered(), 0),
    clients: () => connections.size,
    close() {
      clearInterval(timer);
      close();
    },
  };
}

export async function barePublish(): Promise<FanOut> {
  const TOPIC = 'all';
  let position = 0;
  let seq = 0;
  const app = App().ws('/api/ws', { maxBackpressure: 0, open: (ws) => void ws.subscribe(TOPIC) });
  const { port, close } = await listening(app);
  return {
    port,
    greeting: 0,
    publish(events, padding) {
      for (const event of recordOf(position, events, padding).events) {
        const cursor = encodePlaces(new Map([[CHAIN, { position, index: event.place.index + 1 }]]));
        app.publish(TOPIC, eventMessage(event, ++seq, cursor), false);
      }
      position += 1;
    },
    buffered: () => 0,
    clients: () => app.numSubscribers(TOPIC),
    close,
  };
}

function listening(app: TemplatedApp): Promise<{ port: number; close(): void }> {
  return new Promise((resolve, reject) => {
    app.listen('127.0.0.1', 0, (socket) => {
      if (!socket) return reject(new Error('no port'));
      resolve({
        port: us_socket_local_port(socket),
        close() {
          us_listen_socket_close(socket);
          app.close();
        },
      });
    });
  });
}
