/** Subscribers with confirmations, compared with a simple fold that holds events back until they are confirmed. */
import fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LogGap } from '../../infra/event-log/log-errors.ts';
import { type BlockableClient, connectBlockable } from '../../test/support/api/push/blockable-client.ts';
import { heldBack } from '../../test/support/api/push/held-back.ts';
import type { ChainChange } from './chain-change.ts';
import type { ChainFeed, FeedRecord } from './chain-feed.ts';
import { confirmedEvents, MOST_LOOKED_BACK } from './confirmed-events.ts';
import { encodePlaces } from './cursor.ts';
import { createHub, type Hub } from './hub.ts';
import { LOADED, READ_AT_ONCE } from './limits.ts';
import { type EventOrigin, type PushEvent, pushEvent } from './push-event.ts';

const CHAIN = 'c';

interface Step {
  readonly kind: ChainChange['kind'];
  /** How far below the tip a rewind or a correction reaches. */
  readonly depth: number;
  readonly events: number;
  readonly bytes: number;
}

const step = fc.record<Step>({
  kind: fc.constantFrom('block', 'block', 'block', 'block', 'rewind', 'correction'),
  depth: fc.nat(7),
  events: fc.nat(2),
  // One record of the last size fills the cache of records that are read from the log.
  bytes: fc.constantFrom(100, 100, 400_000, LOADED.bytes / 2, LOADED.bytes),
});

const blocks = (count: number, events: number, bytes = 100) =>
  Array.from({ length: count }, (): Step => ({ kind: 'block', depth: 0, events, bytes }));

/** The records of a chain from its first block on; impossible steps are skipped. */
function recordsOf(steps: readonly Step[]): FeedRecord[] {
  const records: FeedRecord[] = [];
  let tip = -1;
  for (const { kind, depth, events, bytes } of steps) {
    const position = records.length;
    const height = kind === 'block' ? tip + 1 : tip - depth;
    if (height < 0 || (kind === 'rewind' && depth === 0)) continue;
    const undo = {
      channel: 'undo',
      type: 'undo',
      data: () => JSON.stringify({ fromHeight, toHeight: height }),
    } as const;
    const fromHeight = tip;
    const plain = Array.from({ length: events }, (_, index) => ({
      channel: 'blocks' as const,
      type: 'block',
      data: () => JSON.stringify(`${kind} ${height} of ${position}.${index}`),
    }));
    const made: readonly Omit<EventOrigin, 'chain' | 'topic' | 'place'>[] = kind === 'rewind' ? [undo] : plain;
    records.push({
      position,
      change: { kind, height },
      bytes,
      events: made.map((one, index) => pushEvent({ chain: CHAIN, topic: 'facts', place: { position, index }, ...one })),
    });
    if (kind !== 'correction') tip = height;
  }
  return records;
}

const textsOf = (events: readonly PushEvent[]) => events.map((event) => event.data());

const history = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' });
const inMemory = (records: readonly FeedRecord[]) => ({
  record: (position: number) => records[position],
  outline: (position: number) => {
    const record = records[position];
    return record && { change: record.change, size: record.events.length };
  },
});

function eventsOf(found: ReturnType<typeof confirmedEvents>): readonly PushEvent[] {
  if ('position' in found) throw new Error(`record ${found.position} is not in memory`);
  return found;
}

describe('the events that a record confirms', () => {
  it('are those of a fold that holds events back, with any confirmations, reorganisations and corrections', () => {
    let undone = 0;
    fc.assert(
      fc.property(history, fc.integer({ min: 1, max: 6 }), (steps, confirmations) => {
        const records = recordsOf(steps);
        const found = records.map(({ position }) =>
          eventsOf(confirmedEvents(inMemory(records), position, confirmations)).map((event) => event.data()),
        );
        expect(found).toEqual(heldBack(records, confirmations).map(textsOf));
        undone += found.flat().filter((text) => text.includes('fromHeight')).length;
      }),
      { numRuns: 300 },
    );
    expect(undone).toBeGreaterThan(50);
  });

  it('contain their confirmations, and come in the order of their places', () => {
    const records = recordsOf(blocks(9, 2));
    const at = (count: number) => eventsOf(confirmedEvents(inMemory(records), 8, count));
    const events = [...(records[8]?.events ?? []), ...at(2), ...at(3)];
    const indexes = events.map(({ place }) => place.index);
    expect(indexes).toEqual(indexes.toSorted((a, b) => a - b));
    expect(new Set(indexes).size).toBe(6);
    expect(at(3).map(({ head }) => head)).toEqual(
      Array(2).fill('{"type":"block","chain":"c","confirmations":3,"seq":'),
    );
  });

  it('are given up if they would need more earlier records than are read', () => {
    const corrections = MOST_LOOKED_BACK + 5;
    const change = (position: number): ChainChange => ({
      kind: position < 5 ? 'block' : 'correction',
      height: Math.min(position, 4),
    });
    const outline = (position: number) => ({ change: change(position), size: 0 });
    const found = confirmedEvents({ record: () => undefined, outline }, corrections, 6);
    expect(found).toMatchObject({ isTooFar: true });
  });
});

/** A feed that keeps two records in memory, and reads three small ones at a time. */
function feedOf(records: FeedRecord[], oldest: () => number, onLoad: () => void): ChainFeed {
  return {
    chain: CHAIN,
    key: CHAIN,
    get head() {
      return records.length;
    },
    tip: null,
    recent: (position) => (position >= records.length - 2 ? records[position] : undefined),
    async load(position) {
      await Promise.resolve();
      if (position < oldest()) throw new LogGap('gone');
      onLoad();
      const small = records.slice(position, position + 3).findIndex(({ bytes }) => bytes > READ_AT_ONCE.maxBytes / 3);
      return records.slice(position, position + (small < 0 ? 3 : Math.max(1, small)));
    },
    end: async () => records.length,
    headIn: async () => records.length,
    join: () => undefined,
  };
}

interface Sent {
  readonly type: string;
  readonly seq?: number;
  readonly cursor: string;
  readonly confirmations?: number;
  readonly data?: unknown;
}

type Client = BlockableClient<Sent>;

const settle = async () => {
  for (let turn = 0; turn < 60; turn++) await Promise.resolve();
};

function connect(hub: Hub, accepts: () => boolean, confirmations: readonly number[], cursor?: string): Client {
  const [first = 0, ...others] = confirmations;
  return connectBlockable({
    hub,
    first: { channels: ['blocks'], confirmations: first, ...(cursor !== undefined && { cursor }) },
    others: others.map((count) => ({ id: count, channels: ['blocks'], confirmations: count, cursor })),
    accepts,
  });
}

const logger = pino({ level: 'silent' });
const pace = (isSpent: () => boolean) => ({ sliceMs: 0, isSpent, rest: () => Promise.resolve() });

function world(accepts: () => boolean) {
  const records: FeedRecord[] = [];
  let oldest = 0;
  let loads = 0;
  const feed = feedOf(
    records,
    () => oldest,
    () => {
      loads += 1;
    },
  );
  const rests = pace(accepts);
  const hub = createHub({
    chains: [CHAIN],
    feeds: [feed],
    idsOf: (text) => [text],
    logger,
    pace: rests,
    messagePace: rests,
  });
  return {
    hub,
    loads: () => loads,
    add(record: FeedRecord) {
      records.push(record);
      hub.publish(feed, record);
    },
    forgetBefore(position: number) {
      oldest = position;
    },
  };
}

const dataOf = (sent: readonly Sent[], confirmations: number) =>
  sent.filter((one) => one.data !== undefined && (one.confirmations ?? 0) === confirmations).map(({ data }) => data);

describe('a client with confirmations', () => {
  it('gets every event once and in order, also next to a subscription without, however it blocks, disconnects and resumes', async () => {
    let live = 0;
    await fc.assert(
      fc.asyncProperty(
        history,
        fc.infiniteStream(fc.boolean()),
        fc.infiniteStream(fc.nat(5)),
        fc.constantFrom([0, 2], [2], [3, 1], [0, 4, 1]),
        async (steps, accepting, choosing, counts) => {
          const accepts = () => accepting.next().value ?? true;
          const { hub, add } = world(accepts);
          const heard: Sent[] = [];
          let client = connect(hub, accepts, counts);
          await settle();
          client.drain();
          const records = recordsOf(steps);
          try {
            for (const record of records) {
              if (client.connection.isLive) live += 1;
              add(record);
              const choice = choosing.next().value;
              if (choice === 0) await settle();
              else if (choice === 1) client.drain();
              else if (choice === 2) {
                const events = client.sent.filter(({ data }) => data !== undefined);
                heard.push(...events);
                hub.remove(client.connection);
                client.connection.closed();
                const cursor = client.sent.at(-1)?.cursor;
                client = connect(hub, accepts, counts, cursor);
                await settle();
                client.drain();
              }
            }
            for (let turn = 0; turn < 300 && !client.connection.isLive; turn++) {
              await settle();
              client.drain();
            }
          } finally {
            // A client that makes no progress would continue forever.
            client.connection.closed();
          }
          heard.push(...client.sent);
          for (const count of counts) {
            const wanted = heldBack(records, count).flatMap(textsOf);
            expect(dataOf(heard, count)).toEqual(wanted.map((text) => JSON.parse(text)));
          }
        },
      ),
      { numRuns: 60 },
    );
    // The path of clients that keep up was taken, too.
    expect(live).toBeGreaterThan(100);
  });

  const start = encodePlaces(new Map([[CHAIN, { position: 0, index: 0 }]]));
  const TURNS = 2_000;
  const upTo = (most: number) => Array.from({ length: most }, (_, index) => index + 1);

  async function resume(records: readonly FeedRecord[], counts: readonly number[]) {
    const { hub, add, loads } = world(() => true);
    for (const record of records) add(record);
    const client = connect(hub, () => true, counts, start);
    await settle();
    client.drain();
    for (let turn = 0; turn < TURNS && !client.connection.isLive; turn++) await settle();
    client.connection.closed();
    return { sent: client.sent, loads: loads() };
  }

  /** Each copy of an event reads its type twice: for itself, and for the text before `seq`. */
  function counted(records: readonly FeedRecord[]) {
    let reads = 0;
    const made = records.map((record) => ({
      ...record,
      events: record.events.map(({ type, ...event }) => ({
        ...event,
        get type() {
          reads += 1;
          return type;
        },
      })),
    }));
    return { records: made, copies: () => reads / 2 };
  }

  it('copies an event once for each of its numbers of confirmations, however short its turns are', async () => {
    const counts = upTo(5);
    const { records, copies } = counted(recordsOf(blocks(8, 200)));
    const { sent } = await resume(records, counts);
    const made = copies();
    const wanted = counts.flatMap((count) => heldBack(records, count).flat()).length;
    expect(counts.flatMap((count) => dataOf(sent, count))).toHaveLength(wanted);
    expect(made).toBeLessThanOrEqual(wanted);
  });

  it('falls behind if its events take too long to copy at once, and gets them in turns', async () => {
    const counts = upTo(5);
    const { records, copies } = counted(recordsOf(blocks(8, 20)));
    const { hub, add } = world(() => true);
    for (const record of records.slice(0, -1)) add(record);
    const client = connect(hub, () => true, counts);
    await settle();
    client.drain();
    await settle();
    expect(client.connection.isLive).toBe(true);
    let now = 0;
    const slow = vi.spyOn(performance, 'now').mockImplementation(() => {
      now += 1_000;
      return now;
    });
    onTestFinished(() => slow.mockRestore());
    for (const record of records.slice(-1)) add(record);
    expect(copies()).toBeLessThanOrEqual(1);
    for (let turn = 0; turn < TURNS && !client.connection.isLive; turn++) await settle();
    for (const count of counts) {
      const wanted = heldBack(records, count).at(-1) ?? [];
      expect(dataOf(client.sent, count)).toEqual(textsOf(wanted).map((text) => JSON.parse(text)));
    }
  });

  it('needs one record in memory, however many numbers of confirmations it has', async () => {
    const counts = upTo(6);
    const records = recordsOf(blocks(15, 3, LOADED.bytes));
    const { sent, loads } = await resume(records, counts);
    for (const count of counts) {
      const wanted = heldBack(records, count).flatMap(textsOf);
      expect(dataOf(sent, count)).toEqual(wanted.map((text) => JSON.parse(text)));
    }
    // Each record is loaded for itself, and once for each number.
    expect(loads).toBeLessThanOrEqual(records.length * (counts.length + 1));
  });

  it('gets one resync if blocks that awaited confirmations are no longer in the log, and continues', async () => {
    const records = recordsOf(blocks(20, 1));
    const { hub, add, forgetBefore } = world(() => true);
    for (const record of records.slice(0, 10)) add(record);
    forgetBefore(8);
    const client = connect(hub, () => true, [5]);
    await settle();
    for (const record of records.slice(10)) {
      add(record);
      await settle();
    }
    expect(client.sent.filter(({ type }) => type === 'resync')).toHaveLength(1);
    const from = records.slice(11, 15).flatMap(({ events }) => events.map((event) => JSON.parse(event.data())));
    expect(dataOf(client.sent, 5)).toEqual(from);
  });
});
