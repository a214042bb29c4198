/** A subscription with a snapshot, begun anywhere, compared with a fold of all events from the beginning. */
import fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { SnapshotNotice } from '../../client/stream/messages.ts';
import { LogUnreachable } from '../../infra/event-log/log-errors.ts';
import { type BotState, createBotState } from '../../test/stream-check/bot-state.ts';
import { type BlockableClient, connectBlockable } from '../../test/support/api/push/blockable-client.ts';
import type { ChainFeed, FeedRecord } from './chain-feed.ts';
import { decodePlaces, lacksSnapshot } from './cursor.ts';
import { createHub, type Hub } from './hub.ts';
import { pushEvent } from './push-event.ts';
import type { SnapshotRow } from './snapshot-rows.ts';
import type { TakeSnapshot } from './snapshots.ts';
import { SubscriptionRefused } from './subscription-refused.ts';

const CHAIN = 'c';
const KEYS = ['a', 'b', 'c'];
/** Rewinds reach no deeper. */
const DEPTH = 4;
/** After this time a client checks again for room, and for a log or a store that was unreachable. */
const WAIT_MS = 1_000;
const logger = pino({ level: 'silent' });

interface Change {
  /** Blocks that a rewind removes; 0 for a block. */
  readonly back: number;
  readonly keys: readonly string[];
}

/** The records of a chain; impossible rewinds are skipped. */
function historyOf(changes: readonly Change[]): FeedRecord[] {
  const records: FeedRecord[] = [];
  let tip = -1;
  let highest = -1;
  for (const { back, keys } of changes) {
    const position = records.length;
    const kind = back > 0 ? 'rewind' : 'block';
    const height = kind === 'rewind' ? tip - back : tip + 1;
    if (height < Math.max(0, highest - DEPTH)) continue;
    const undo = { fromHeight: tip, toHeight: height };
    tip = height;
    highest = Math.max(highest, tip);
    const made = (channel: 'blocks' | 'reserves' | 'undo', type: string, data: object, index: number) =>
      pushEvent({
        chain: CHAIN,
        topic: 'facts',
        place: { position, index },
        channel,
        type,
        data: () => JSON.stringify(data),
      });
    const rows = keys.map((currencyId, index) =>
      made('reserves', 'reserves', { currencyId, height, time: 0, made: position }, index + 1),
    );
    const events =
      kind === 'rewind'
        ? [made('undo', 'undo', undo, 0)]
        : [made('blocks', 'block', { height, made: position }, 0), ...rows];
    records.push({ position, change: { kind, height }, bytes: 100, events });
  }
  return records;
}

/** Like the stores: the newest row of each key, and every row above `since`. */
function snapshotOf(records: readonly FeedRecord[]) {
  let rows: SnapshotRow[] = [];
  let highest = -1;
  let tip = -1;
  for (const { change, events } of records) {
    tip = change.height;
    highest = Math.max(highest, tip);
    if (change.kind === 'rewind') rows = rows.filter(({ height }) => height <= tip);
    else for (const event of events) if (event.channel === 'reserves') rows.push({ height: tip, event });
  }
  const since = Math.max(0, tip - DEPTH);
  const keyOf = (row: SnapshotRow) => (JSON.parse(row.event.data()) as { currencyId: string }).currencyId;
  const isBase = (row: SnapshotRow) =>
    !rows.some((other) => other.height > row.height && other.height <= since && keyOf(other) === keyOf(row));
  return { since, rows: rows.filter((row) => row.height > since || isBase(row)) };
}

/** The state after all events before a place. */
function heldFrom(records: readonly FeedRecord[], position: number, index: number): BotState {
  const state = createBotState();
  for (const event of records.flatMap(({ events }) => events)) {
    const isBefore =
      event.place.position < position || (event.place.position === position && event.place.index < index);
    if (isBefore) state.takeEvent({ chain: CHAIN, type: event.type, data: JSON.parse(event.data()) });
  }
  return state;
}

interface Message {
  readonly type: string;
  readonly cursor: string;
  readonly data?: { readonly made: number };
  readonly code?: string;
}

type Client = BlockableClient<Message>;

const settle = async (turns: number) => {
  for (let turn = 0; turn < turns; turn++) await Promise.resolve();
};

/** Two subscriptions, which begin together: blocks without a snapshot, reserves with one. */
function connect(hub: Hub, accepts: () => boolean, cursor?: string): Client {
  return connectBlockable({
    hub,
    first: { channels: ['blocks'], ...(cursor !== undefined && { cursor }) },
    others: [{ id: 2, channels: ['reserves'], snapshot: true, cursor }],
    accepts,
    onEnd: (sent) => sent.push({ type: 'end', cursor: '' }),
  });
}

/** `committed` runs ahead of what the feed has published, as the stores do. */
function world(records: readonly FeedRecord[], accepts: () => boolean, delay: () => number) {
  let head = 0;
  let committed = 0;
  const failNowAndThen = () => {
    if (delay() === 0) throw new LogUnreachable('the broker is away');
  };
  const feed: ChainFeed = {
    chain: CHAIN,
    key: CHAIN,
    get head() {
      return head;
    },
    tip: null,
    recent: (position) => (position >= head - 2 && position < head ? records[position] : undefined),
    load: async (position) => {
      failNowAndThen();
      return records.slice(position, Math.min(head, position + 3));
    },
    end: async () => committed,
    headIn: async () => committed,
    join: () => undefined,
  };
  const read = async () => {
    failNowAndThen();
    await settle(delay());
    const at = committed;
    const { since, rows } = snapshotOf(records.slice(0, at));
    await settle(delay());
    const lists = [{ channel: 'reserves', chain: CHAIN, since, rows } as const];
    return {
      lists,
      rows: rows.length,
      places: new Map([[CHAIN, { position: at, index: 0 }]]),
      release: () => undefined,
    };
  };
  // Now and then there is no room for a snapshot.
  const takeSnapshot: TakeSnapshot = () => (delay() === 0 ? null : read());
  const rests = { sliceMs: 0, isSpent: accepts, rest: () => Promise.resolve() };
  const hub = createHub({
    chains: [CHAIN],
    feeds: [feed],
    idsOf: (text) => [text],
    takeSnapshot,
    logger,
    pace: rests,
    messagePace: rests,
  });
  return {
    hub,
    commit() {
      committed = Math.min(records.length, committed + 1);
    },
    publish() {
      const record = records[head];
      if (!record || head >= committed) return;
      head += 1;
      hub.publish(feed, record);
    },
    isDone: () => head === records.length,
  };
}

const change = fc.record<Change>({
  back: fc.constantFrom(0, 0, 0, 0, 1, 2, DEPTH),
  keys: fc.subarray(KEYS),
});

describe('a snapshot and the events after it', () => {
  it('yield the state of a subscriber from the beginning, wherever clients begin, block, disconnect, resume or begin again', async () => {
    const seen = { snapshots: 0, undone: 0, again: 0 };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 40, size: 'max' }),
        fc.infiniteStream(fc.boolean()),
        fc.infiniteStream(fc.nat(7)),
        async (changes, accepting, choosing) => {
          const accepts = () => accepting.next().value ?? true;
          const choose = () => choosing.next().value ?? 0;
          const records = historyOf(changes);
          const { hub, commit, publish, isDone } = world(records, accepts, () => 5 * choose());
          const state = createBotState();
          const blocks: number[] = [];
          let client = connect(hub, accepts);
          let read = 0;
          let cursor = '';
          const take = () => {
            for (const message of client.sent.slice(read)) {
              cursor = message.cursor;
              if (message.type === 'snapshot') {
                const part = message as unknown as SnapshotNotice;
                state.takePart(part);
                if (part.last) seen.snapshots += 1;
              } else if (message.type === 'reserves' || message.type === 'undo') {
                state.takeEvent({ chain: CHAIN, type: message.type, data: message.data ?? {} });
                if (message.type === 'undo') seen.undone += 1;
              } else if (message.type === 'block') blocks.push(message.data?.made ?? -1);
            }
            read = client.sent.length;
          };
          const comeBack = async () => {
            take();
            hub.remove(client.connection);
            client.connection.closed();
            if (lacksSnapshot(cursor)) seen.again += 1;
            client = connect(hub, accepts, cursor);
            read = 0;
            await settle(60);
            client.drain();
          };
          await settle(60);
          client.drain();
          for (let steps = 0; !isDone() || steps < 20; steps += 1) {
            const choice = choose();
            if (choice <= 2) commit();
            if (choice >= 2 && choice <= 4) publish();
            if (choice === 5) client.drain();
            if (choice === 6) await settle(30);
            if (choice === 6) vi.advanceTimersByTime(WAIT_MS);
            if (choice === 7) await comeBack();
            if (steps > 400) {
              commit();
              publish();
            }
          }
          for (let turn = 0; turn < 300 && !client.connection.isLive; turn++) {
            await settle(60);
            client.drain();
            vi.advanceTimersByTime(WAIT_MS);
          }
          take();
          expect(client.connection.isLive).toBe(true);
          const { position = 0, index = 0 } = decodePlaces(cursor).get(CHAIN) ?? {};
          expect([...state.current()].sort()).toEqual([...heldFrom(records, position, index).current()].sort());
          const all = records.filter((record) => record.change.kind === 'block').map((record) => record.position);
          expect(blocks).toEqual(all);
        },
      ),
      { numRuns: 100 },
    );
    // Without reorganisations after a snapshot, and clients that return without theirs, the law would prove little.
    expect(seen.snapshots).toBeGreaterThan(50);
    expect(seen.undone).toBeGreaterThan(50);
    expect(seen.again).toBeGreaterThan(10);
  });

  it('is refused without a channel that has one, with confirmations, or if too large; a failing store ends the connection', async () => {
    const { hub } = world(
      [],
      () => true,
      () => 0,
    );
    const tooLarge = createHub({
      ...hub,
      takeSnapshot: () => Promise.reject(new SubscriptionRefused('snapshot_too_large', '/snapshot', 'too many rows')),
    });
    const broken = createHub({ ...hub, takeSnapshot: () => Promise.reject(new Error('the store is away')) });
    const unserved = connect(broken, () => true);
    await settle(60);
    unserved.drain();
    await settle(200);
    expect(unserved.sent.at(-1)?.type).toBe('end');
    const errorOf = async (asked: object) => {
      const client = connect(tooLarge, () => true);
      await settle(60);
      client.drain();
      await settle(60);
      client.connection.receive(Buffer.from(JSON.stringify({ op: 'subscribe', id: 3, snapshot: true, ...asked })));
      await settle(200);
      return client.sent.findLast(({ type }) => type === 'error')?.code;
    };
    expect(await errorOf({ channels: ['blocks'] })).toBe('invalid_message');
    expect(await errorOf({ channels: ['prices'], confirmations: 2 })).toBe('invalid_message');
    expect(await errorOf({ channels: ['prices'] })).toBe('snapshot_too_large');
  });
});
