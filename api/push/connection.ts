/**
 * One client of the push stream: its subscriptions, its place in the stream, its numbering. What it may miss is never
 * queued: a client that does not keep up keeps its place and is served from the log when its socket drains.
 */
import type { ClientMessage, MessageId, SubscribeMessage } from './client-message.ts';
import { readClientMessage } from './client-message.ts';
import { CursorInvalid, decodePlaces, encodePlaces, type FeedKey, type Place, type Places } from './cursor.ts';
import type { Hub } from './hub.ts';
import { createMessageBudget, MAX_MESSAGE_BYTES } from './limits.ts';
import { placeAfter } from './places.ts';
import { eventMessage, type PushEvent } from './push-event.ts';
import { type Subscription, SubscriptionRefused } from './subscription.ts';
import { createSubscriptionSet, DEFAULT, LimitExceeded, type SubscriptionKey } from './subscription-set.ts';

/** The way to one client. */
export interface Transport {
  /** False when the socket has not taken everything: nothing more is sent before drained(). */
  send(json: string | Uint8Array, type: string, cursor: string): boolean;
  /** What is sent inside leaves at once; false as with send(). */
  together(send: () => void): boolean;
  /** Bytes that the socket has not taken yet, where that is known. */
  buffered(): number;
  /** Ends it with a code and a reason of at most 123 bytes. */
  end(code: number, reason: string): void;
}

/** An event at the end of the stream; `cursor` is the text of the place right behind it. */
export interface LiveEvent {
  readonly event: PushEvent;
  readonly cursor: string;
  /** Bytes of the message, until the next call. */
  message(seq: number): Uint8Array;
}

export interface Connection {
  /** A message of the client. */
  receive(text: string): void;
  /** The socket has room again. */
  drained(): void;
  /** The events of a record while the connection is live. */
  offer(events: readonly LiveEvent[]): void;
  readonly isLive: boolean;
  /** Called after every record; serves what is not live. */
  wake(): void;
  /** Now and then: heartbeat, end of a slow client. */
  tick(now: number): void;
  buffered(): number;
  closed(): void;
  /** Says why in an `error`, then ends it. */
  turnAway(why: { readonly code: string; readonly detail: string }, closeCode: number): void;
  end(code: number, reason: string): void;
}

export interface ConnectionOptions {
  readonly hub: Hub;
  readonly transport: Transport;
  /** Replaces the default subscription from the start; `cursor` resumes. */
  readonly first: Omit<SubscribeMessage, 'op' | 'id'>;
  /** How long the default stream waits for a first subscribe, which then replaces it before anything was sent. */
  readonly graceMs: number;
  readonly heartbeatMs: number;
  /** A socket that takes nothing for this long is closed. */
  readonly slowMs: number;
}

export const CLOSE_SLOW = 4408;
export const CLOSE_LIMIT = 4429;
const CLOSE_INTERNAL = 1011;
const HELLO_VERSION = 1;
const SNAPSHOTS = { facts: '/api/stats/pulse', stamps: '/api/oracle/prices' };

export function createConnection(options: ConnectionOptions): Connection {
  const { hub, transport } = options;
  const subscriptions = createSubscriptionSet(hub);
  const budget = createMessageBudget();
  /** Null while live: the place is then the hub's. */
  let places: Map<FeedKey, Place> | null = new Map(hub.places());
  let seq = 0;
  let lastCursor = '';
  let lastSentAt = Date.now();
  let blockedSince: number | null = null;
  let pumping = false;
  let started = false;
  let isOpen = true;
  let grace: NodeJS.Timeout | null = null;

  /** A copy: places move on. */
  const here = (): Map<FeedKey, Place> => new Map(places ?? hub.places());

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
    if (!isOpen) return;
    const at = here();
    const cursor = encodePlaces(at);
    seq += 1;
    write(JSON.stringify({ type, ...members, seq, cursor }), type, cursor);
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
  }

  function start(): void {
    if (grace) clearTimeout(grace);
    started = true;
    void pump();
  }

  /** Sends what lies between the connection's place and the hub's; the place of a record that must be read first, if any. */
  function sendRecent(): { readonly feed: FeedKey; readonly position: number } | null {
    if (!places) return null;
    for (const feed of hub.feeds) {
      for (;;) {
        const place = places.get(feed.key) ?? { position: feed.head, index: 0 };
        if (place.position >= feed.head) break;
        const record = feed.recent(place.position) ?? hub.loaded(feed.key, place.position);
        if (!record) return { feed: feed.key, position: place.position };
        for (const event of record.events) {
          if (event.place.index < place.index) continue;
          places.set(feed.key, placeAfter(event));
          if (subscriptions.wants(event)) sendEvent(event, encodePlaces(places));
          if (blockedSince !== null || !isOpen) return null;
        }
        places.set(feed.key, { position: place.position + 1, index: 0 });
      }
    }
    if (hub.isAt(places)) places = null;
    return null;
  }

  function sendEvent(event: PushEvent, cursor: string): void {
    seq += 1;
    write(eventMessage(event, seq, cursor), event.type, cursor);
  }

  function sendLive(events: readonly LiveEvent[]): void {
    for (const { event, cursor, message } of events) {
      if (!subscriptions.wantsLive(event)) continue;
      seq += 1;
      write(message(seq), event.type, cursor);
      if (!places) continue;
      places.set(event.feed, placeAfter(event)); // the rest of the record is still to come
      return;
    }
  }

  async function pump(): Promise<void> {
    if (pumping || !started) return;
    pumping = true;
    try {
      while (isOpen && blockedSince === null && places) {
        let missing = null as ReturnType<typeof sendRecent>;
        together(() => {
          missing = sendRecent();
        });
        if (!missing) return;
        if (!(await hub.load(missing.feed, missing.position))) resync(missing.feed, 'cursor_expired');
      }
    } catch (error) {
      fail(error);
    } finally {
      pumping = false;
    }
  }

  function fail(err: unknown): void {
    hub.logger.error({ err }, 'a push client could not be served');
    end(CLOSE_INTERNAL, 'internal error');
  }

  /** What lies between is no longer kept: the client reads the state anew and goes on from now. */
  function resync(key: FeedKey, reason: string): void {
    const feed = hub.feeds.find((candidate) => candidate.key === key);
    if (!feed) return;
    places?.set(key, { position: feed.head, index: 0 });
    say('resync', { chain: feed.chain, reason, snapshot: SNAPSHOTS[feed.key === feed.chain ? 'facts' : 'stamps'] });
  }

  /** With a cursor the whole connection goes back to it. @throws SubscriptionRefused, CursorInvalid; nothing has changed then */
  function subscribe({ cursor: text, ...wish }: Omit<SubscribeMessage, 'op'>, key: SubscriptionKey): Subscription {
    const cursor = text === undefined ? null : decodePlaces(text);
    const before = here();
    const known = [...(cursor ?? [])].filter(([feed]) => before.has(feed));
    const from = new Map([...before, ...known]);
    const subscription = subscriptions.add(key, wish, from);
    if (cursor) {
      subscriptions.takenBack(before);
      subscription.seen = from;
      places = new Map(from);
      refuseUnknown(cursor).catch(fail);
    }
    return subscription;
  }

  /** A place that the log has not reached belongs to another log: saying nothing would wait for ever. */
  async function refuseUnknown(cursor: Places): Promise<void> {
    for (const feed of hub.feeds) {
      const place = cursor.get(feed.key);
      if (!place || place.position <= feed.head || place.position <= (await feed.end())) continue;
      if (!isOpen) return;
      resync(feed.key, 'cursor_unknown');
      void pump();
    }
  }

  function handle(message: ClientMessage): void {
    const id = message.id ?? null;
    if (message.op === 'ping') say('pong', { id });
    else if (message.op === 'unsubscribe') unsubscribe(id);
    else {
      const { channels, chains } = subscribe(message, id);
      say('ack', { id, channels: [...channels], chains: [...chains] });
      start();
    }
  }

  function unsubscribe(id: MessageId): void {
    if (subscriptions.remove(id)) say('ack', { id });
    else refuse(id, 'unknown_subscription', 'there is no subscription with this id');
  }

  /** Tells the client what was wrong with its message; what is not its fault is thrown on. */
  function reject(id: MessageId, error: unknown): void {
    if (error instanceof LimitExceeded) overLimit(id, error.message);
    else if (error instanceof SubscriptionRefused) refuse(id, error.reason, error.message);
    else if (error instanceof CursorInvalid) refuse(id, error.code, error.message);
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
    const at = here();
    const cursor = encodePlaces(at);
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
  else grace = setTimeout(start, options.graceMs);

  return {
    get isLive() {
      return places === null && isOpen;
    },
    offer: (events) => together(() => sendLive(events)),
    wake: () => void pump(),
    drained() {
      blockedSince = null;
      void pump();
    },
    receive(text) {
      if (!isOpen) return;
      if (!budget.take(Date.now())) return overLimit(null, 'more than 100 messages in 10 s');
      if (Buffer.byteLength(text) > MAX_MESSAGE_BYTES) return overLimit(null, 'a message above 16 kB');
      const read = readClientMessage(text);
      if (!read.ok) return refuse(read.id, read.code, read.detail);
      try {
        handle(read.message);
      } catch (error) {
        reject(read.message.id ?? null, error);
      }
    },
    tick(now) {
      if (!isOpen) return;
      if (blockedSince !== null) {
        if (now - blockedSince >= options.slowMs) end(CLOSE_SLOW, lastCursor);
        return;
      }
      if (now - lastSentAt >= options.heartbeatMs) say('heartbeat', { chains: hub.tips() });
    },
    buffered: () => (isOpen ? transport.buffered() : 0),
    closed,
    turnAway,
    end,
  };
}
