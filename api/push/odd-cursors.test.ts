/** Cursors that fit no record, and several at once: they neither block the process nor keep it busy, and no event is sent twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createPace } from '../../infra/pace.ts';
import { unconfirmed } from '../../test/support/processors/mempool/doubles.ts';
import { createJournal } from '../mempool/journal.ts';
import type { Served } from './catch-up.ts';
import type { ChainFeed, FeedRecord } from './chain-feed.ts';
import { createConnection } from './connection.ts';
import { encodePlaces, type FeedPlace, lacksSnapshot } from './cursor.ts';
import { createHub } from './hub.ts';
import { createNetworkShares } from './network-share.ts';
import { pushEvent } from './push-event.ts';
import { createSnapshots } from './snapshots.ts';

const CHAIN = 'c';
const HEAD = 5;
const logger = pino({ level: 'silent' });

interface Sent {
  readonly type: string;
  readonly cursor: string;
  readonly data?: { readonly event: string };
}

function recordAt(position: number): FeedRecord {
  const events = (['blocks', 'reserves'] as const).map((channel, index) =>
    pushEvent({
      chain: CHAIN,
      topic: 'facts',
      place: { position, index },
      channel,
      type: channel === 'blocks' ? 'block' : channel,
      data: () => JSON.stringify({ event: `${position} ${channel}` }),
    }),
  );
  return { position, bytes: 100, change: { kind: 'block', height: position }, events };
}

/** A client of a feed with `count` records; the log has `more`, which other processes may have published. */
function connect(count: number, { more = 0, readMs = 0, hasRoom = (): boolean => true } = {}) {
  const records = Array.from({ length: count }, (_, position) => recordAt(position));
  const feed: ChainFeed = {
    chain: CHAIN,
    key: CHAIN,
    get head() {
      return records.length;
    },
    tip: { height: 1, hash: 'h', finalizedHeight: 0 },
    recent: (position) => records[position],
    load: async () => [],
    end: () => sleep(20, Math.max(records.length, count + more)),
    headIn: async () => records.length,
    join: () => undefined,
  };
  /** Stamps are published without a change of the tag. */
  let published = 0;
  const state = () => ({ version: `${records.length} ${published}`, tag: String(records.length), derived: new Map() });
  const take = createSnapshots({
    chains: [{ name: CHAIN, finalityDepth: 1 }] as never,
    feeds: [feed],
    topics: { read: () => Promise.reject(new Error('no topic is read for reserves')) },
    state: state as never,
    withSnapshot: async (work) => work({ state: state(), rows: () => sleep(readMs, []) } as never),
  });
  /** For each snapshot: its position, and what had been sent when its reading began. */
  const taken: { readonly position: number; readonly before: readonly Sent[] }[] = [];
  const takeSnapshot: typeof take = (...asked) => {
    if (!hasRoom()) return null;
    const before = [...sent];
    const reading = take(...asked);
    reading?.then(({ places }) => taken.push({ position: places.get(CHAIN)?.position ?? 0, before }));
    return reading;
  };
  const pace = createPace({ sliceMs: 0.2, restMs: 1 });
  const mempool = createJournal(CHAIN);
  const mempools = [mempool];
  const hub = createHub({
    chains: [CHAIN],
    feeds: [feed],
    idsOf: (text) => [text],
    logger,
    takeSnapshot,
    pace,
    mempools,
  });
  let turns = 0;
  const takeTurn = (client: Served) => {
    turns += 1;
    return client.serve();
  };
  /** By client: the hub tells clients apart by identity, so a client keeps its wrapper. */
  const counted = new Map<Served, Served>();
  const counting: typeof hub = {
    ...hub,
    serve(client) {
      const known = counted.get(client) ?? { network: client.network, serve: () => takeTurn(client) };
      counted.set(client, known);
      hub.serve(known);
    },
  };
  const sent: Sent[] = [];
  const transport = {
    send: (json: Uint8Array | string) => sent.push(JSON.parse(Buffer.from(json).toString())) > 0,
    together: (work: () => void) => {
      work();
      return true;
    },
    buffered: () => 0,
    end: () => undefined,
  };
  const share = createNetworkShares().open('n');
  const connection = createConnection({
    hub: counting,
    share,
    transport,
    first: {},
    graceMs: 250,
    heartbeatMs: 60_000,
    slowMs: 60_000,
  });
  hub.add(connection);
  return {
    sent,
    taken,
    turns: () => turns,
    say: (message: object) => connection.receive(Buffer.from(JSON.stringify(message))),
    append() {
      const record = recordAt(records.length);
      records.push(record);
      hub.publish(feed, record);
    },
    arrive() {
      const transaction = unconfirmed({ txid: `${mempool.head}`, spends: [], expiryHeight: 0 });
      mempool.record({ changes: [{ kind: 'waits', transaction }], index: null, listed: 1, withheld: 0 });
      connection.wake();
    },
    publishStamps: () => {
      published += 1;
    },
    end: () => connection.end(1000, 'over'),
  };
}

const cursorAt = (place: FeedPlace) => encodePlaces(new Map([[CHAIN, place]]));
const eventsOf = (sent: readonly Sent[]) => sent.flatMap(({ data }) => data?.event ?? []);

const AROUND = [-1, 0, 1, 2, 1e9].flatMap((by) => [0, 1, 2, 1e9].map((index) => ({ position: HEAD + by, index })));

it.each(['before', 'after', 'none'] as const)('odd cursors with a snapshot requested: %s', async (snapshot) => {
  await Promise.all(
    AROUND.map(async (place) => {
      const { sent, turns, say, append, end } = connect(HEAD);
      const askForSnapshot = () => say({ op: 'subscribe', id: 2, channels: ['reserves'], snapshot: true });
      if (snapshot === 'before') askForSnapshot();
      say({ op: 'subscribe', id: 1, channels: ['blocks'], cursor: cursorAt(place) });
      if (snapshot === 'after') askForSnapshot();
      await sleep(500);
      expect(turns(), JSON.stringify(place)).toBeLessThan(50);
      const types = () => sent.map(({ type }) => type);
      if (snapshot !== 'none') await expect.poll(types, { timeout: 20_000 }).toContain('snapshot');
      // The service refuses a cursor beyond the end of the log only once it has asked the log.
      const isUnknown = place.position > HEAD || (place.position === HEAD && place.index > 0);
      if (isUnknown) await expect.poll(types, { timeout: 20_000 }).toContain('resync');
      const heard = sent.length;
      append();
      const events = () => eventsOf(sent.slice(heard));
      await expect.poll(events, { message: JSON.stringify(place), timeout: 20_000 }).toContain(`${HEAD} blocks`);
      await sleep(100);
      expect(turns(), JSON.stringify(place)).toBeLessThan(100);
      end();
    }),
  );
});

it('a cached snapshot is read again after stamps were published', async () => {
  const { sent, say, publishStamps, append, end } = connect(HEAD);
  say({ op: 'subscribe', id: 1, channels: ['reserves'], snapshot: true });
  await expect.poll(() => sent.filter(({ type }) => type === 'snapshot')).toHaveLength(1);
  publishStamps();
  append();
  say({ op: 'subscribe', id: 2, channels: ['reserves'], snapshot: true });
  await expect.poll(() => sent.filter(({ type }) => type === 'snapshot')).toHaveLength(2);
  end();
});

/** Records at the start, and records that arrive while clients resume. */
const [AT_HAND, TO_COME] = [400, 8];

async function resume(subscriptions: readonly { channels: readonly string[]; from: number; waitMs: number }[]) {
  const { sent, say, append, end } = connect(AT_HAND, { more: TO_COME });
  for (const [id, { channels, from, waitMs }] of subscriptions.entries()) {
    say({ op: 'subscribe', id, channels, cursor: cursorAt({ position: from, index: 0 }) });
    await sleep(waitMs);
  }
  for (let count = 0; count < TO_COME; count += 1) {
    append();
    await sleep(count % 3);
  }
  const wanted = new Set(
    subscriptions.flatMap(({ channels, from }) => {
      const positions = Array.from({ length: AT_HAND + TO_COME - from }, (_, index) => from + index);
      return positions.flatMap((position) => channels.map((channel) => `${position} ${channel}`));
    }),
  );
  await expect.poll(() => eventsOf(sent).length, { interval: 10 }).toBeGreaterThanOrEqual(wanted.size);
  await sleep(20);
  expect(eventsOf(sent).sort()).toEqual([...wanted].sort());
  end();
}

const resumed = {
  channels: fc.constantFrom(['blocks'], ['reserves'], ['blocks', 'reserves']),
  waitMs: fc.integer({ min: 0, max: 6 }),
};
const aPlace = fc.oneof(
  fc.integer({ min: 0, max: AT_HAND + TO_COME }),
  fc.integer({ min: AT_HAND - 2, max: AT_HAND + TO_COME }),
);

it('several subscriptions that resume with the cursor of their connection get each event once', async () => {
  const several = fc.array(fc.record(resumed), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(aPlace, several, (from, all) => resume(all.map((one) => ({ ...one, from })))),
    { numRuns: 20 },
  );
});

it('several subscriptions that resume with cursors of their own get each event after them once', async () => {
  const several = fc.array(fc.record({ ...resumed, from: aPlace }), { minLength: 2, maxLength: 6 });
  await fc.assert(fc.asyncProperty(several, resume), { numRuns: 40 });
});

it('a cursor of another log does not affect the other subscriptions', async () => {
  const { sent, say, append, end } = connect(AT_HAND);
  say({ op: 'subscribe', id: 1, channels: ['blocks'], cursor: cursorAt({ position: 0, index: 0 }) });
  say({ op: 'subscribe', id: 2, channels: ['reserves'], cursor: cursorAt({ position: 1e9, index: 0 }) });
  await expect.poll(() => sent.map(({ type }) => type)).toContain('resync');
  append();
  await expect.poll(() => eventsOf(sent)).toContain(`${AT_HAND} reserves`);
  const blocks = Array.from({ length: AT_HAND + 1 }, (_, position) => `${position} blocks`);
  expect(eventsOf(sent).filter((event) => event.endsWith('blocks'))).toEqual(blocks);
  end();
});

it.each(['unsubscribed', 'replaced'])('a cursor of another log whose subscription is %s at once', async (how) => {
  const { sent, say, append, end } = connect(HEAD);
  say({ op: 'subscribe', id: 1, channels: ['blocks'], cursor: cursorAt({ position: 1e9, index: 0 }) });
  if (how === 'unsubscribed') say({ op: 'subscribe', id: 2, channels: ['reserves'] });
  say(how === 'unsubscribed' ? { op: 'unsubscribe', id: 1 } : { op: 'subscribe', id: 1, channels: ['reserves'] });
  await expect.poll(() => sent.map(({ type }) => type)).toContain('resync');
  append();
  await expect.poll(() => eventsOf(sent)).toContain(`${HEAD} reserves`);
  end();
});

it('subscriptions that end or are replaced while others catch up: no event is sent twice', async () => {
  const ending = fc.record({ id: fc.nat({ max: 3 }), isReplaced: fc.boolean(), waitMs: fc.nat({ max: 4 }) });
  const several = fc.array(fc.record({ ...resumed, from: aPlace }), { minLength: 2, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(several, fc.array(ending, { maxLength: 4 }), async (subscriptions, endings) => {
      const { sent, say, append, end } = connect(AT_HAND, { more: TO_COME });
      for (const [id, { channels, from, waitMs }] of subscriptions.entries()) {
        say({ op: 'subscribe', id, channels, cursor: cursorAt({ position: from, index: 0 }) });
        await sleep(waitMs);
      }
      for (const { id, isReplaced, waitMs } of endings) {
        const { channels } = subscriptions[id] ?? { channels: ['blocks'] };
        say(isReplaced ? { op: 'subscribe', id, channels } : { op: 'unsubscribe', id });
        await sleep(waitMs);
      }
      for (let count = 0; count < TO_COME; count += 1) append();
      say({ op: 'subscribe', id: 'last', channels: ['blocks'] });
      append();
      await expect.poll(() => eventsOf(sent), { interval: 10 }).toContain(`${AT_HAND + TO_COME} blocks`);
      const events = eventsOf(sent);
      expect(events.length).toBe(new Set(events).size);
      const ended = new Set(endings.map(({ id }) => id));
      for (const [id, { channels, from }] of subscriptions.entries()) {
        if (ended.has(id)) continue;
        const positions = Array.from({ length: AT_HAND + TO_COME - from }, (_, index) => from + index);
        expect(events).toEqual(
          expect.arrayContaining(positions.flatMap((position) => channels.map((channel) => `${position} ${channel}`))),
        );
      }
      end();
    }),
    { numRuns: 30 },
  );
});

it.each(['waits for room', 'is read slowly'])(
  'a snapshot that %s is followed by all later events, also while the mempool changes',
  async (how) => {
    let isHeldUp = true;
    const { sent, taken, say, append, arrive, end } = connect(HEAD, {
      ...(how === 'waits for room' && { hasRoom: () => !isHeldUp }),
      ...(how === 'is read slowly' && { readMs: 300 }),
    });
    say({ op: 'subscribe', id: 0, channels: ['blocks'] });
    say({ op: 'subscribe', id: 1, channels: ['reserves', 'mempool'], snapshot: true });
    await sleep(100);
    append();
    arrive();
    // Other subscriptions do not wait for it.
    if (how !== 'is read slowly') await expect.poll(() => eventsOf(sent)).toContain(`${HEAD} blocks`);
    expect(sent.map(({ type }) => type)).not.toContain('snapshot');
    isHeldUp = false;
    const isLast = ({ type }: Sent) => type === 'snapshot';
    await expect.poll(() => sent.findIndex(isLast)).toBeGreaterThan(0);
    append();
    await expect.poll(() => eventsOf(sent)).toContain(`${HEAD + 1} reserves`);
    const from = taken.at(-1)?.position ?? 0;
    const wanted = Array.from({ length: HEAD + 2 - from }, (_, index) => `${from + index} reserves`);
    const reserves = (of: readonly Sent[]) => eventsOf(of).filter((event) => event.endsWith('reserves'));
    expect(reserves(sent.slice(sent.findIndex(isLast)))).toEqual(wanted);
    expect(reserves(sent)).toEqual(wanted);
    end();
  },
);

it('a snapshot is read once its connection has received all earlier events, or no longer wants them', async () => {
  const { sent, taken, say, end } = connect(10 * AT_HAND);
  say({ op: 'subscribe', id: 1, channels: ['blocks'], cursor: cursorAt({ position: 0, index: 0 }) });
  say({ op: 'subscribe', id: 2, channels: ['reserves'], snapshot: true });
  say({ op: 'subscribe', id: 3, channels: ['reserves'], snapshot: true });
  say({ op: 'unsubscribe', id: 2 });
  const snapshots = () => sent.filter(({ type }) => type === 'snapshot');
  await expect.poll(snapshots, { timeout: 20_000 }).toHaveLength(1);
  expect(eventsOf(taken[0]?.before ?? [])).toHaveLength(10 * AT_HAND);
  expect(taken).toHaveLength(1);
  end();
});

it('events of other subscriptions before a snapshot have cursors that request the snapshot again', async () => {
  const { sent, say, end } = connect(10 * AT_HAND);
  say({ op: 'subscribe', id: 1, channels: ['blocks'], cursor: cursorAt({ position: 0, index: 0 }) });
  say({ op: 'subscribe', id: 2, channels: ['reserves'], snapshot: true });
  await expect.poll(() => sent.map(({ type }) => type)).toContain('snapshot');
  const snapshot = sent.findIndex(({ type }) => type === 'snapshot');
  const asked = sent.findLastIndex(({ type }) => type === 'ack');
  const between = sent.slice(asked + 1, snapshot);
  expect(between.map(({ type }) => type)).toContain('block');
  for (const { cursor } of between) expect(lacksSnapshot(cursor)).toBe(true);
  end();
});
