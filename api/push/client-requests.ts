/** Handles one client's messages: subscribe, unsubscribe, ping. A mistake gets an error; exceeding a limit ends the connection. */
import { ApiError } from '../http/api-error.ts';
import type { ClientMessage, MessageId, SubscribeMessage } from './client-message.ts';
import type { ClientPlace } from './client-place.ts';
import { CursorInvalid, type FeedPlace, type FeedPlaces, lacksSnapshot, readCursor } from './cursor.ts';
import type { Hub } from './hub.ts';
import type { MempoolReader } from './mempool-reader.ts';
import type { Outbox } from './outbox.ts';
import { beyondAll, comparePlaces, earlierOf, isAtOrAfter } from './places.ts';
import type { SnapshotSender } from './snapshot-sender.ts';
import type { Subscription } from './subscription.ts';
import { LimitExceeded, SubscriptionRefused } from './subscription-refused.ts';
import { DEFAULT, type SubscriptionKey, type SubscriptionSet } from './subscription-set.ts';

export interface ClientRequestsOptions {
  readonly hub: Pick<Hub, 'chains' | 'feeds' | 'readCurrencies'>;
  readonly place: ClientPlace;
  readonly outbox: Outbox;
  readonly subscriptions: SubscriptionSet;
  readonly snapshots: SnapshotSender;
  readonly mempool: MempoolReader;
  /** Called after the client has subscribed. */
  readonly onSubscribed: () => void;
  /** Called when the client resumes from a cursor. */
  readonly onResumed: () => void;
  /** Called when the log has no such place. */
  readonly onUnknownPlace: (feed: Hub['feeds'][number], unknown: FeedPlace) => void;
  /** Called when there may be something to send. */
  readonly wake: () => void;
  /** Ends the connection. */
  readonly overLimit: (id: MessageId, detail: string) => void;
  readonly fail: (error: unknown) => void;
}

export interface ClientRequests {
  /** Returns null if the message is handled synchronously. */
  read(message: ClientMessage): Promise<void> | null;
  /**
   * With a cursor, moves the connection to it, or leaves it at an earlier place that its other subscriptions need.
   * @throws SubscriptionRefused, CursorInvalid, LimitExceeded, ApiError; then nothing has changed
   */
  subscribe(wish: Omit<SubscribeMessage, 'op'>, key: SubscriptionKey): Subscription;
  /**
   * Resumes the default subscription from a cursor. The first subscription that replaces it without its own cursor resumes there, too.
   * @throws like `subscribe`
   */
  resume(cursor: string): void;
  /** Answers a client's mistake with an error message. @throws every other error */
  reject(id: MessageId, error: unknown): void;
}

export function createClientRequests(options: ClientRequestsOptions): ClientRequests {
  const { hub, place, outbox, subscriptions, snapshots, mempool } = options;
  let resumedAt: string | undefined;

  function subscribe({ cursor: text, ...wish }: Omit<SubscribeMessage, 'op'>, key: SubscriptionKey): Subscription {
    const given = text === undefined ? null : readCursor(text, hub.chains.length);
    const isNew = text === undefined || lacksSnapshot(text);
    const cursor = wish.snapshot && isNew ? null : given;
    const before = place.here();
    const known = [...(cursor ?? [])].filter(([feed]) => before.has(feed));
    const from = new Map([...before, ...known]);
    const subscription = subscriptions.add(key, wish, from, cursor !== null);
    if (cursor) {
      options.onResumed();
      subscriptions.rewoundTo(before);
      subscription.seen = from;
      place.goTo(subscriptions.hasOther(subscription) ? earlierOf(before, from) : from);
      refuseUnknown(cursor).catch(options.fail);
    }
    if (subscription.channels.has('mempool')) mempool.restart();
    if (subscription.snapshot.length > 0 && isNew) {
      place.stay(before);
      subscription.from = beyondAll(before);
      snapshots.ask(key, subscription);
    }
    return subscription;
  }

  /** Reports places beyond the end of the log: they belong to another log, so the client would wait for them forever. */
  async function refuseUnknown(cursor: FeedPlaces): Promise<void> {
    for (const feed of hub.feeds) {
      const asked = cursor.get(feed.key);
      if (!asked) continue;
      /** A place within a record is reached once the record exists. */
      const isReached = (end: number) => comparePlaces(asked, { position: end, index: 0 }) <= 0;
      if (isReached(feed.head) || isReached(await feed.end())) continue;
      if (!outbox.isOpen) return;
      if (isReached(feed.head)) continue;
      // Other subscriptions may have started at the connection's place, and the subscription with this cursor may have ended.
      if (isAtOrAfter(place.here().get(feed.key), asked) || subscriptions.standsAt(feed.key, asked))
        options.onUnknownPlace(feed, asked);
    }
  }

  function handle(message: ClientMessage): void {
    const id = message.id ?? null;
    if (message.op === 'ping') outbox.say('pong', { id });
    else if (message.op === 'unsubscribe') unsubscribe(id);
    else {
      const cursor = message.cursor ?? resumedAt;
      const { channels, chains, confirmations } = subscribe(
        { ...message, ...(cursor !== undefined && { cursor }) },
        id,
      );
      if (message.cursor === undefined) resumedAt = undefined;
      const said = confirmations > 0 ? { confirmations } : {};
      outbox.say('ack', { id, channels: [...channels], chains: [...chains], ...said });
      options.onSubscribed();
    }
  }

  function unsubscribe(id: MessageId): void {
    if (subscriptions.remove(id)) {
      outbox.say('ack', { id });
      options.wake();
    } else outbox.refuse(id, 'unknown_subscription', 'there is no subscription with this id');
  }

  function reject(id: MessageId, error: unknown): void {
    if (error instanceof LimitExceeded) options.overLimit(id, error.message);
    else if (error instanceof SubscriptionRefused) outbox.refuse(id, error.reason, error.message);
    else if (error instanceof CursorInvalid || error instanceof ApiError) outbox.refuse(id, error.code, error.message);
    else throw error;
  }

  function answer(message: ClientMessage): void {
    try {
      handle(message);
    } catch (error) {
      reject(message.id ?? null, error);
    }
  }

  return {
    read(message) {
      const reading = message.op === 'subscribe' ? hub.readCurrencies(message.filter ?? {}) : null;
      if (reading) return reading.then(() => (outbox.isOpen ? answer(message) : undefined));
      answer(message);
      return null;
    },
    subscribe,
    resume(cursor) {
      subscribe({ cursor }, DEFAULT);
      resumedAt = cursor;
    },
    reject,
  };
}
