import fc from 'fast-check';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LogGap } from '../../infra/event-log/log-errors.ts';
import type { Pace } from '../../infra/pace.ts';
import type { ChainFeed, FeedRecord } from './chain-feed.ts';
import { CLOSE_SLOW, createConnection } from './connection.ts';
import { createHub, type Hub } from './hub.ts';
import { createNetworkShares } from './network-share.ts';
import type { PushConnection } from './push-connection.ts';
import { type Channel, pushEvent } from './push-event.ts';

const CHAINS = ['a', 'b'] as const;
const logger = pino({ level: 'silent' });

interface TestFeed extends ChainFeed {
  grow(channels: readonly Channel[]): FeedRecord;
  forgetBefore(position: number): void;
}

/** A chain that grows when the test asks for it; its two newest records stay in memory. */
function testFeed(chain: string): TestFeed {
  const records: FeedRecord[] = [];
  let oldest = 0;
  return {
    chain,
    key: chain,
    get head() {
      return records.length;
    },
    get tip() {
      return { height: records.length, hash: 'h', finalizedHeight: 0 };
    },
    recent: (position) => (position >= records.length - 2 ? records[position] : undefined),
    async load(position) {
      await Promise.resolve();
      if (position < oldest) throw new LogGap('gone');
      return records.slice(position, position + 3);
    },
    end: async () => records.length,
    headIn: async () => records.length,
    join: () => undefined,
    grow(channels) {
      const position = records.length;
      const events = channels.map((channel, index) =>
        pushEvent({
          chain,
          topic: 'facts',
          place: { position, index },
          channel,
          type: 'block',
          data: () => `"${chain}${position}.${index}"`,
        }),
      );
      const record = { position, change: { kind: 'block', height: position }, events, bytes: 100 } as const;
      records.push(record);
      return record;
    },
    forgetBefore(position) {
      oldest = position;
    },
  };
}

interface Sent {
  readonly type: string;
  readonly seq?: number;
  readonly cursor: string;
  readonly data?: string;
  readonly reason?: string;
}

interface TestClient {
  readonly connection: PushConnection;
  readonly sent: Sent[];
  closed: { code: number; reason: string } | null;
  blocked: boolean;
}

const timing = { graceMs: 5, heartbeatMs: 15_000, slowMs: 10_000 };

function connect(hub: Hub, accepts: () => boolean, cursor?: string, channels?: readonly Channel[]): TestClient {
  const sent: Sent[] = [];
  const client: { closed: TestClient['closed']; blocked: boolean } = { closed: null, blocked: false };
  const connection = createConnection({
    hub,
    share: createNetworkShares().open('test'),
    first: { ...(cursor !== undefined && { cursor }), ...(channels && { channels }) },
    ...timing,
    transport: {
      send(json) {
        expect(client.blocked, 'nothing is sent into a full socket').toBe(false);
        sent.push(JSON.parse(Buffer.from(json).toString()));
        client.blocked = !accepts();
        return !client.blocked;
      },
      together(send) {
        send();
        return !client.blocked;
      },
      buffered: () => 0,
      end: (code, reason) => {
        client.closed = { code, reason };
      },
    },
  });
  hub.add(connection);
  return Object.assign(client, { connection, sent });
}

/** A client of channel blocks with a scripted socket. `ended` returns the code with which it was closed. */
function connectSocket(hub: Hub, { takes, buffered }: { readonly takes: boolean; readonly buffered: () => number }) {
  let code: number | null = null;
  const connection = createConnection({
    hub,
    share: createNetworkShares().open('test'),
    first: { channels: ['blocks'] },
    ...timing,
    transport: {
      send: () => takes,
      together: () => takes,
      buffered,
      end: (given) => {
        code = given;
      },
    },
  });
  return { connection, ended: () => code };
}

/** Rests when `spent` returns true, without a timer. */
function pace(spent: () => boolean = () => false): Pace {
  return { sliceMs: Number.POSITIVE_INFINITY, isSpent: spent, rest: () => Promise.resolve() };
}

const settle = async () => {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
};

const dataOf = (sent: readonly Sent[]) => sent.flatMap(({ data }) => data ?? []);

function expectNumbered(sent: readonly Sent[]): void {
  const numbers = sent.flatMap(({ seq }) => seq ?? []);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
}

let feeds: TestFeed[];
let hub: Hub;
beforeEach(() => {
  feeds = CHAINS.map(testFeed);
  hub = createHub({ chains: CHAINS, feeds, idsOf: (text) => [text], logger, pace: pace(), messagePace: pace() });
});
afterEach(() => void vi.useRealTimers());

function grow(chain: number, channels: readonly Channel[] = ['blocks']): void {
  const feed = feeds[chain];
  if (feed) hub.publish(feed, feed.grow(channels));
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('grow'), chain: fc.nat(1), events: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('drain') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('settle') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reconnect') }) },
);

describe('a client of the stream', () => {
  it('gets every event once and in order, however it blocks, disconnects and resumes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.infiniteStream(fc.boolean()), async (steps, accepting) => {
        feeds = CHAINS.map(testFeed);
        const rests = { ...pace(() => accepting.next().value ?? true), sliceMs: 0 };
        hub = createHub({ chains: CHAINS, feeds, idsOf: (text) => [text], logger, pace: rests, messagePace: rests });
        const accepts = () => accepting.next().value ?? true;
        const received: string[] = [];
        const wanted: string[] = [];
        let client = connect(hub, accepts, undefined, ['blocks']);
        const drain = () => {
          client.blocked = false;
          client.connection.drained();
        };
        const breakOff = () => {
          received.push(...dataOf(client.sent));
          expectNumbered(client.sent);
          hub.remove(client.connection);
          client.connection.closed();
          return client.sent.at(-1)?.cursor;
        };
        for (const todo of steps) {
          if (todo.do === 'settle') await settle();
          else if (todo.do === 'drain' && client.blocked) drain();
          else if (todo.do === 'reconnect') client = connect(hub, accepts, breakOff(), ['blocks']);
          else if ('chain' in todo) {
            const position = feeds[todo.chain]?.head ?? 0;
            const channels = Array.from(
              { length: todo.events },
              (_, index) => (index === 1 ? 'txs' : 'blocks') as Channel,
            );
            channels.forEach((channel, index) => {
              if (channel === 'blocks') wanted.push(`${CHAINS[todo.chain]}${position}.${index}`);
            });
            grow(todo.chain, channels);
          }
        }
        for (let turn = 0; turn < 400; turn++) {
          await settle();
          if (client.blocked) drain();
        }
        breakOff();
        for (const chain of CHAINS) {
          const of = (list: readonly string[]) => list.filter((name) => name.startsWith(chain));
          expect(of(received)).toEqual(of(wanted));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('may subscribe within a moment, which replaces the default subscription before anything is sent', async () => {
    vi.useFakeTimers();
    const client = connect(hub, () => true);
    grow(0);
    client.connection.receive(Buffer.from('{"op":"subscribe","id":1,"channels":["txs"]}'));
    grow(0, ['txs', 'blocks']);
    await settle();
    expect(client.sent.map(({ type }) => type)).toEqual(['hello', 'ack', 'block']);
    expect(dataOf(client.sent)).toEqual(['a1.0']);
  });

  it('gets the default stream from its greeting on if it sends nothing', async () => {
    vi.useFakeTimers();
    const client = connect(hub, () => true);
    grow(0);
    grow(1);
    await settle();
    expect(dataOf(client.sent)).toEqual([]);
    vi.advanceTimersByTime(timing.graceMs);
    await settle();
    grow(0);
    expect(dataOf(client.sent)).toEqual(['a0.0', 'b0.0', 'a1.0']);
  });

  it('gets no event twice if a second subscription resumes from an earlier cursor', async () => {
    const start = connect(hub, () => true, undefined, ['blocks']).sent[0]?.cursor ?? '';
    const client = connect(hub, () => true, undefined, ['blocks']);
    await settle();
    grow(0, ['blocks', 'txs']);
    client.connection.receive(
      Buffer.from(JSON.stringify({ op: 'subscribe', id: 2, channels: ['blocks', 'txs'], cursor: start })),
    );
    await settle();
    grow(0, ['blocks', 'txs']);
    expect(dataOf(client.sent)).toEqual(['a0.0', 'a0.1', 'a1.0', 'a1.1']);
  });

  it.each(['at once', 'later'])(
    'gets the events after the cursor of its URL when it subscribes %s, to any channel',
    async (when) => {
      vi.useFakeTimers();
      const start = connect(hub, () => true, undefined, ['blocks']).sent[0]?.cursor ?? '';
      grow(0, ['blocks', 'txs']);
      const client = connect(hub, () => true, start);
      if (when === 'later') vi.advanceTimersByTime(timing.graceMs);
      await settle();
      client.connection.receive(Buffer.from(JSON.stringify({ op: 'subscribe', id: 1, channels: ['txs'] })));
      await settle();
      grow(0, ['blocks', 'txs']);
      const blocks = when === 'later' ? ['a0.0'] : [];
      expect(dataOf(client.sent)).toEqual([...blocks, 'a0.1', 'a1.1']);
      client.connection.receive(Buffer.from(JSON.stringify({ op: 'subscribe', id: 2, channels: ['blocks'] })));
      grow(0, ['blocks', 'txs']);
      expect(dataOf(client.sent)).toEqual([...blocks, 'a0.1', 'a1.1', 'a2.0', 'a2.1']);
    },
  );

  it('gets the events after the cursor of its URL by its first subscription without another cursor', async () => {
    const start = connect(hub, () => true, undefined, ['blocks']).sent[0]?.cursor ?? '';
    grow(0, ['blocks', 'txs']);
    const now = connect(hub, () => true, undefined, ['blocks']).sent[0]?.cursor ?? '';
    const client = connect(hub, () => true, start);
    for (const asked of [
      { id: 1, channels: ['blocks'], cursor: now },
      { id: 2, channels: ['txs'] },
    ])
      client.connection.receive(Buffer.from(JSON.stringify({ op: 'subscribe', ...asked })));
    await settle();
    expect(dataOf(client.sent)).toEqual(['a0.1']);
  });

  it('gets a resync if its place is no longer kept, and continues from now', async () => {
    const start = connect(hub, () => true, undefined, ['blocks']).sent[0]?.cursor ?? '';
    for (let count = 0; count < 6; count++) grow(0);
    feeds[0]?.forgetBefore(3);
    const client = connect(hub, () => true, start, ['blocks']);
    await settle();
    grow(0);
    expect(client.sent.map(({ type }) => type)).toEqual(['hello', 'resync', 'block']);
    expect(client.sent[1]).toMatchObject({ reason: 'cursor_expired', snapshot: '/api/stats/pulse' });
    expect(dataOf(client.sent)).toEqual(['a6.0']);
  });

  it('is closed with 4408 and its last cursor if its socket accepts nothing', async () => {
    let room = 3;
    const client = connect(hub, () => --room > 0, undefined, ['blocks']);
    const other = connect(hub, () => true, undefined, ['blocks']);
    await settle();
    for (let count = 0; count < 8; count++) grow(0);
    await settle();
    expect(dataOf(other.sent).length).toBe(8);
    client.connection.tick(performance.now() + timing.slowMs - 1000);
    expect(client.closed).toBeNull();
    client.connection.tick(performance.now() + timing.slowMs + 1000);
    expect(client.closed).toEqual({ code: CLOSE_SLOW, reason: client.sent.at(-1)?.cursor });
    expect((client.closed?.reason ?? '').length).toBeLessThanOrEqual(123);
    const resumed = connect(hub, () => true, client.closed?.reason, ['blocks']);
    await settle();
    expect([...dataOf(client.sent), ...dataOf(resumed.sent)]).toEqual(dataOf(other.sent));
  });

  it('is closed with 4408 and no reason if its cursor is longer than a reason may be', async () => {
    const chains = Array.from({ length: 12 }, (_, index) => `chain-with-a-name-${index}`);
    const many = { chains, feeds: chains.map(testFeed), idsOf: (text: string) => [text] };
    const client = connect(createHub({ ...many, logger, pace: pace(), messagePace: pace() }), () => false, undefined, [
      'blocks',
    ]);
    await settle();
    client.connection.tick(performance.now() + timing.slowMs + 1000);
    expect(client.sent.at(-1)?.cursor.length).toBeGreaterThan(123);
    expect(client.closed).toEqual({ code: CLOSE_SLOW, reason: '' });
  });

  it('resumes with the cursor of a service of any number of chains', async () => {
    const chains = Array.from({ length: 60 }, (_, index) => `chain-with-a-name-${index}`);
    feeds = chains.map(testFeed);
    hub = createHub({ chains, feeds, idsOf: (text) => [text], logger, pace: pace(), messagePace: pace() });
    const start = connect(hub, () => true, undefined, ['blocks']).sent[0]?.cursor ?? '';
    expect(start.length).toBeGreaterThan(1_000);
    grow(59);
    const resumed = connect(hub, () => true, start, ['blocks']);
    await settle();
    expect(resumed.sent.map(({ type }) => type)).toEqual(['hello', 'block']);
    const subscribed = connect(hub, () => true);
    subscribed.connection.receive(
      Buffer.from(JSON.stringify({ op: 'subscribe', id: 1, channels: ['blocks'], cursor: start })),
    );
    await settle();
    expect(subscribed.sent.map(({ type }) => type)).toEqual(['hello', 'ack', 'block']);
  });

  it('is closed with 4408 if it keeps sending requests and reads none of the answers', async () => {
    vi.useFakeTimers();
    let asked = 0;
    const { connection, ended } = connectSocket(hub, { takes: false, buffered: () => 0 });
    for (; ended() === null && asked < 1_000; asked += 1) {
      vi.advanceTimersByTime(200);
      connection.receive(Buffer.from(JSON.stringify({ op: 'ping', id: 'x'.repeat(64) })));
      await settle();
    }
    expect(ended()).toBe(CLOSE_SLOW);
    expect(asked).toBeLessThan(1_000);
  });

  it('is closed with 4408 if it keeps sending pings and reads none of the answers', () => {
    vi.useFakeTimers();
    let [pings, held] = [0, 0];
    const { connection, ended } = connectSocket(hub, { takes: true, buffered: () => held });
    for (; ended() === null && pings < 1_000; pings += 1) {
      vi.advanceTimersByTime(200);
      held += 127;
      connection.ping(125);
    }
    expect(ended()).toBe(CLOSE_SLOW);
    expect(held).toBeLessThan(66_000);
  });

  it('gets a heartbeat after silence, and none before', () => {
    const client = connect(hub, () => true, undefined, ['blocks']);
    client.connection.tick(performance.now() + timing.heartbeatMs - 1000);
    expect(client.sent.length).toBe(1);
    client.connection.tick(performance.now() + timing.heartbeatMs + 1000);
    expect(client.sent.at(-1)).toMatchObject({ type: 'heartbeat', seq: 1, chains: { a: { height: 0 } } });
  });
});
