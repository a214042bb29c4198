/**
 * One client of the push stream: its subscriptions, its place in the stream, its numbering. What it may miss is never
 * queued: a client that does not keep up keeps its place and is served from the log when its socket drains.
 */
import { ApiError } from '../http/api-error.ts';
import type { Served } from './catch-up.ts';
import type { ClientMessage, MessageId, SubscribeMessage } from './client-message.ts';
import type { MissingRecord } from './confirmed-events.ts';
import type { PushConnectionOptions } from './connection-options.ts';
import {
  CursorInvalid,
  decodePlaces,
  encodePlaces,
  type FeedKey,
  type FeedPlace,
  type FeedPlaces,
  lacksSnapshot,
} from './cursor.ts';
import { createInbox } from './inbox.ts';
import { MAX_UNTAKEN_ANSWERS } from './limits.ts';

import { mempoolFor } from './mempool-reader.ts';

import { beyondAll, isBeforePlaces, isShortOf, placeAfter } from './places.ts';
import type { PushConnection } from './push-connection.ts';

import { eventMessage, type PushEvent } from './push-event.ts';
import { createSnapshotSender } from './snapshot-sender.ts';
import type { Subscription } from './subscription.ts';
import { LimitExceeded, SubscriptionRefused } from './subscription-refused.ts';
import { createSubscriptionSet, DEFAULT, type SubscriptionKey } from './subscription-set.ts';
import type { LiveEvent } from './transport.ts';

export const CLOSE_SLOW = 4408;
export const CLOSE_LIMIT = 4429;
const CLOSE_INTERNAL = 1011;
const HELLO_VERSION = 1;
const SNAPSHOTS = { facts: '/api/stats/pulse', stamps: '/api/oracle/prices' };

export function createConnection(options: PushConnectionOptions): PushConnection {
  const { hub, transport, share } = options;
  const subscriptions = createSubscriptionSet(hub, share);
  const mempool = mempoolFor(hub.mempools, subscriptions, sayMembers);
  const inbox = createInbox({ share, pace: hub.messagePace, workOf: hub.workOf, read, refuse, overLimit, fail });
  /** Null while live: the place is then the hub's. */
  let places: Map<FeedKey, FeedPlace> | null = new Map(hub.places());
  let seq = 0;
  let lastCursor = '';
  let lastSentAt = Date.now();
  let blockedSince: number | null = null;
  let untaken = 0;
  let started = false;
  let hasResumed = false;
  /** By feed: where blocks that wait for confirmations are no longer in the log before it. */
  const floors = new Map<FeedKey, number>();
  let isOpen = true;
  let grace: NodeJS.Timeout | null = null;
  const snapshots = createSnapshotSender({
    take: hub.takeSnapshot,
    share,
    pace: hub.messagePace,
    isReached: (at) => !isBeforePlaces(here(), at),
    isPast: (at) => isBeforePlaces(at, here()),
    isHeld: subscriptions.has,
    say: sayMembers,
    begin,
    fail,
    refuse(key, subscription, error) {
      if (subscriptions.has(subscription)) subscriptions.remove(key);
      reject(typeof key === 'symbol' ? null : key, error);
    },
    wake,
  });

  const here = (): Map<FeedKey, FeedPlace> => new Map(places ?? hub.places()); // a copy: places move on
  const cursorHere = () => encodePlaces(here(), snapshots.isDue());

  function write(json: string | Uint8Array, type: string, cursor: string): void {
    lastSentAt = Date.now();
    lastCursor = cursor;
    if (!transport.send(json, type, cursor)) blocked();
  }

  /** A live connection no longer is: its place becomes its own. */
  function blocked(): void {
    blockedSince ??= Date.now();
    places ??= new Map(hub.places());
  }

  function together(send: () => void): void {
    if (isOpen && !transport.together(send)) blocked();
  }

  /** A message that is no event. */
  function say(type: string, members: Readonly<Record<string, unknown>>): void {
    sayMembers(JSON.stringify({ type, ...members }).slice(0, -1), type);
  }

  function sayMembers(members: string, type = 'snapshot'): void {
    if (!isOpen) return;
    const cursor = cursorHere();
    const json = `${members},"seq":${seq + 1},"cursor":"${cursor}"}`;
    if (blockedSince !== null) untaken += json.length;
    if (untaken > MAX_UNTAKEN_ANSWERS) {
      end(CLOSE_SLOW, lastCursor);
      return;
    }
    seq += 1;
    write(json, type, cursor);
  }

  function refuse(id: MessageId, code: string, detail: string): void {
    say('error', { id, code, detail });
  }

  function end(code: number, reason: string): void {
    if (!isOpen) return;
    closed();
    transport.end(code, reason);
  }

  function closed(): void {
    isOpen = false;
    if (grace) clearTimeout(grace);
    inbox.close();
    snapshots.close();
    share.close();
  }

  function start(): void {
    if (grace) clearTimeout(grace);
    started = true;
    wake();
  }

  function startUnlessAsked(): void {
    if (inbox.isEmpty) start();
    else grace = setTimeout(startUnlessAsked, options.graceMs);
  }

  function wake(): void {
    if (started && isBehind()) hub.serve(served);
  }

  /**
   * Sends what lies between the connection's place and the hub's, for a slice of time; the place of a record that must be read
   * first, if any.
   */
  function sendRecent(): MissingRecord | null {
    if (!places) return null;
    const end = performance.now() + hub.pace.sliceMs;
    for (const feed of hub.feeds) {
      for (;;) {
        const place = places.get(feed.key) ?? { position: feed.head, index: 0 };
        if (place.position >= Math.min(feed.head, snapshots.places()?.get(feed.key)?.position ?? feed.head)) break;
        const events = hub.eventsAt(feed, place.position, subscriptions.confirmations(), floors.get(feed.key));
        if ('position' in events) return { feed: feed.key, ...events };
        for (const event of events) {
          if (event.place.index < place.index) continue;
          places.set(feed.key, placeAfter(event));
          if (subscriptions.wants(event)) sendEvent(event, encodePlaces(places));
          if (blockedSince !== null || !isOpen || performance.now() >= end) return null;
        }
        places.set(feed.key, { position: place.position + 1, index: 0 });
      }
    }
    if (!snapshots.isDue() && hub.isAt(places)) places = null;
    return null;
  }

  function sendEvent(event: PushEvent, cursor: string): void {
    seq += 1;
    write(eventMessage(event, seq, cursor), event.type, cursor);
  }

  /** False once the socket has not taken everything. */
  function sendLive(events: readonly LiveEvent[]): boolean {
    for (const live of events) {
      const { event } = live;
      if (!subscriptions.wantsLive(event)) continue;
      seq += 1;
      write(live.message(seq), event.type, live.cursor);
      if (!places) continue;
      places.set(event.feed, placeAfter(event)); // the rest of the record is still to come
      return false;
    }
    return true;
  }

  const isTakingMore = () => isOpen && blockedSince === null;
  /** Whether there is something to send now: up to the next snapshot, or a part of it. */
  function isBehind(): boolean {
    if (!isTakingMore() || mempool.isBehind || places === null) return isTakingMore() && mempool.isBehind;
    return !snapshots.isDue() || snapshots.isReady() || isShortOf(hub.feeds, places, snapshots.places());
  }

  function send(): MissingRecord | null {
    let missing: MissingRecord | null = null;
    together(() => {
      if (snapshots.isReady()) snapshots.send();
      else missing = sendRecent();
      if (isTakingMore() && !snapshots.isReady()) mempool.send(performance.now() + hub.pace.sliceMs, isTakingMore);
    });
    return missing;
  }

  const served: Served = {
    network: share.network,
    async serve() {
      try {
        const missing = isBehind() ? send() : null;
        if (!missing) return isBehind();
        if (missing.isTooFar || !(await hub.load(missing.feed, missing.position))) expired(missing);
        if (hub.pace.isSpent()) await hub.pace.rest();
        // At once, before the loaded record is evicted for other clients.
        if (isBehind()) send();
        return isBehind();
      } catch (error) {
        fail(error);
        return false;
      }
    },
  };

  function fail(err: unknown): void {
    hub.logger.error({ err }, 'a push client could not be served');
    end(CLOSE_INTERNAL, 'internal error');
  }

  function expired({ feed, position }: MissingRecord): void {
    // It holds blocks that wait for their confirmations.
    if (position < (places?.get(feed)?.position ?? 0)) floors.set(feed, hub.places().get(feed)?.position ?? 0);
    resync(feed, 'cursor_expired');
  }

  /** The records in between are no longer kept: the client must read the state again and continues from now. */
  function resync(key: FeedKey, reason: string): void {
    const feed = hub.feeds.find((candidate) => candidate.key === key);
    if (!feed) return;
    places?.set(key, { position: feed.head, index: 0 });
    say('resync', { chain: feed.chain, reason, snapshot: SNAPSHOTS[feed.key === feed.chain ? 'facts' : 'stamps'] });
  }

  function fallBehind(at: FeedPlaces): void {
    places ??= new Map(at);
    wake();
  }

  /** The events that follow a snapshot begin where the connection stands. */
  function begin(subscription: Subscription, from: FeedPlaces): void {
    hasResumed = true;
    subscription.from = from;
    subscription.seen = from;
  }

  /** With a cursor, the whole connection goes back to it. @throws SubscriptionRefused, CursorInvalid; then nothing has changed */
  function subscribe({ cursor: text, ...wish }: Omit<SubscribeMessage, 'op'>, key: SubscriptionKey): Subscription {
    const given = text === undefined ? null : decodePlaces(text);
    const isNew = text === undefined || lacksSnapshot(text);
    const cursor = wish.snapshot && isNew ? null : given;
    const before = here();
    const known = [...(cursor ?? [])].filter(([feed]) => before.has(feed));
    const from = new Map([...before, ...known]);
    const subscription = subscriptions.add(key, wish, from);
    if (cursor) {
      hasResumed = true;
      subscriptions.rewoundTo(before);
      subscription.seen = from;
      places = new Map(from);
      refuseUnknown(cursor).catch(fail);
    }
    if (subscription.channels.has('mempool')) mempool.restart();
    if (subscription.snapshot.length > 0 && isNew) {
      places ??= before;
      subscription.from = beyondAll(before);
      snapshots.ask(key, subscription);
    }
    return subscription;
  }

  /** A place that the log has not reached belongs to another log: saying nothing would wait for ever. */
  async function refuseUnknown(cursor: FeedPlaces): Promise<void> {
    for (const feed of hub.feeds) {
      const place = cursor.get(feed.key);
      if (!place || place.position <= feed.head || place.position <= (await feed.end())) continue;
      if (!isOpen) return;
      if (places?.get(feed.key)?.position !== place.position) continue; // it has been taken elsewhere meanwhile
      resync(feed.key, 'cursor_unknown');
      wake();
    }
  }

  function handle(message: ClientMessage): void {
    const id = message.id ?? null;
    if (message.op === 'ping') say('pong', { id });
    else if (message.op === 'unsubscribe') unsubscribe(id);
    else {
      const { channels, chains, confirmations } = subscribe(message, id);
      const said = confirmations > 0 ? { confirmations } : {};
      say('ack', { id, channels: [...channels], chains: [...chains], ...said });
      start();
    }
  }

  function unsubscribe(id: MessageId): void {
    if (subscriptions.remove(id)) say('ack', { id });
    else refuse(id, 'unknown_subscription', 'there is no subscription with this id');
  }

  /** Reads the messages that the client may send now. */
  function read(message: ClientMessage): void {
    try {
      handle(message);
    } catch (error) {
      reject(message.id ?? null, error);
    }
  }

  /** Reports the client's errors to it; rethrows all others. */
  function reject(id: MessageId, error: unknown): void {
    if (error instanceof LimitExceeded) overLimit(id, error.message);
    else if (error instanceof SubscriptionRefused) refuse(id, error.reason, error.message);
    else if (error instanceof CursorInvalid || error instanceof ApiError) refuse(id, error.code, error.message);
    else throw error;
  }

  function overLimit(id: MessageId, detail: string): void {
    refuse(id, 'limit_exceeded', detail);
    end(CLOSE_LIMIT, 'limit exceeded');
  }

  function turnAway(why: { readonly code: string; readonly detail: string }, closeCode: number): void {
    refuse(null, why.code, why.detail);
    end(closeCode, why.code);
  }

  function hello(): void {
    const cursor = cursorHere();
    const heartbeatSeconds = options.heartbeatMs / 1000;
    const members = { version: HELLO_VERSION, chains: hub.tips(), cursor, heartbeatSeconds };
    write(JSON.stringify({ type: 'hello', ...members }), 'hello', cursor);
  }

  subscriptions.add(DEFAULT, {}, here());
  const { first } = options;
  const asked = Object.values(first).some((value) => value !== undefined);
  let refused: unknown = null;
  try {
    if (asked) subscribe(first, null);
  } catch (error) {
    refused = error;
  }
  hello(); // with the cursor that it resumes from, if any
  if (refused !== null) reject(null, refused);
  if (asked) start();
  else grace = setTimeout(startUnlessAsked, options.graceMs);

  return {
    get isLive() {
      return places === null && isOpen;
    },
    offer(eventsFor) {
      const events = subscriptions.confirmations().map(eventsFor);
      if (events.includes(null)) return false;
      together(() => {
        for (const some of events) if (some && !sendLive(some)) return;
      });
      return true;
    },
    fallBehind,
    skip(feed, before) {
      if (hasResumed) fallBehind(before);
      else places?.set(feed.key, { position: feed.head, index: 0 });
      wake();
    },
    wake,
    drained() {
      blockedSince = null;
      untaken = 0;
      wake();
    },
    receive(message) {
      if (isOpen) inbox.receive(message);
    },
    tick(now) {
      if (!isOpen) return;
      if (blockedSince !== null) {
        if (now - blockedSince >= options.slowMs) end(CLOSE_SLOW, lastCursor);
        return;
      }
      if (snapshots.isLate(now)) return end(CLOSE_SLOW, lastCursor);
      if (now - lastSentAt >= options.heartbeatMs) say('heartbeat', { chains: hub.tips() });
    },
    buffered: () => (isOpen ? transport.buffered() : 0),
    closed,
    turnAway,
    end,
  };
}
