/**
 * One client of the push stream: its subscriptions, its place in the stream, its numbering. Events are never queued for
 * it: a client that does not keep up keeps its place and is served from the log when its socket drains.
 */
import type { ChainFeed } from './chain-feed.ts';
import type { MessageId } from './client-message.ts';
import { createClientPlace } from './client-place.ts';
import { createClientRequests } from './client-requests.ts';
import type { PushConnectionOptions } from './connection-options.ts';
import { encodePlaces, type FeedKey } from './cursor.ts';
import { createEventSender } from './event-sender.ts';
import { createInbox } from './inbox.ts';
import { mempoolFor } from './mempool-reader.ts';
import { createOutbox } from './outbox.ts';
import { earlierOf, isBeforePlaces, isShortOf } from './places.ts';
import type { PushConnection } from './push-connection.ts';
import { createSnapshotSender } from './snapshot-sender.ts';
import { createSubscriptionSet, DEFAULT } from './subscription-set.ts';

export const CLOSE_SLOW = 4408;
const CLOSE_LIMIT = 4429;
const CLOSE_INTERNAL = 1011;
const SNAPSHOTS = { facts: '/api/stats/pulse', stamps: '/api/oracle/prices' };

interface Life {
  /** Starts sending events: the client has subscribed, or its grace period is over. */
  start(): void;
  wake(): void;
  end(code: number, reason: string): void;
}

/** Creates the parts of a connection and wires their callbacks. */
function joinParts(options: PushConnectionOptions, life: Life) {
  const { hub, transport, share } = options;
  let hasResumed = false;

  function overLimit(id: MessageId, detail: string): void {
    outbox.refuse(id, 'limit_exceeded', detail);
    life.end(CLOSE_LIMIT, 'limit exceeded');
  }

  function fail(err: unknown): void {
    hub.logger.error({ err }, 'a push client could not be served');
    life.end(CLOSE_INTERNAL, 'internal error');
  }

  /** The records in between are no longer kept: the client must read the state again and continues from now. */
  function resync(key: FeedKey, reason: string): void {
    const feed = hub.feeds.find((candidate) => candidate.key === key);
    if (!feed) return;
    place.moveTo(key, { position: feed.head, index: 0 });
    sayResync(feed, reason);
  }

  function sayResync(feed: ChainFeed, reason: string): void {
    const snapshot = SNAPSHOTS[feed.key === feed.chain ? 'facts' : 'stamps'];
    outbox.say('resync', { chain: feed.chain, reason, snapshot });
  }

  const place = createClientPlace(hub);
  const outbox = createOutbox({
    transport,
    cursor: () => encodePlaces(place.here(), snapshots.isDue()),
    onBlocked: () => place.stay(),
    onOverflow: () => life.end(CLOSE_SLOW, outbox.closeReason),
  });
  const subscriptions = createSubscriptionSet(hub, share, place.here);
  const mempool = mempoolFor(hub, subscriptions, outbox.sayMembers);
  const snapshots = createSnapshotSender({
    take: hub.takeSnapshot,
    share,
    pace: hub.messagePace,
    isAtEnd: () => outbox.isTakingMore && !isShortOf(hub.feeds, place.here(), hub.places()),
    isReached: (at) => !isBeforePlaces(place.here(), at),
    isPast: (at) => isBeforePlaces(at, place.here()),
    isHeld: subscriptions.has,
    say: outbox.sayMembers,
    /** The events that follow a snapshot start at the connection's place. */
    begin(subscription, from) {
      hasResumed = true;
      subscription.from = from;
      subscription.seen = from;
    },
    warn: (err) => hub.logger.warn({ err }, 'a snapshot for a push client cannot be read; trying again'),
    fail,
    refuse(key, subscription, error) {
      if (subscriptions.has(subscription)) subscriptions.remove(key);
      requests.reject(typeof key === 'symbol' ? null : key, error);
      life.wake();
    },
    wake: life.wake,
  });
  const parts = { hub, place, outbox, subscriptions, snapshots, mempool, fail };
  const onExpired = (feed: FeedKey) => resync(feed, 'cursor_expired');
  const sender = createEventSender({ ...parts, network: share.network, onExpired });
  const requests = createClientRequests({
    ...parts,
    onSubscribed: life.start,
    onResumed() {
      hasResumed = true;
    },
    onUnknownPlace(feed, unknown) {
      const end = { position: feed.head, index: 0 };
      subscriptions.moveBackTo(feed.key, end, unknown);
      // The connection may be at an earlier place that other subscriptions need.
      place.goTo(earlierOf(place.here(), new Map([[feed.key, end]])));
      sayResync(feed, 'cursor_unknown');
      life.wake();
    },
    wake: life.wake,
    overLimit,
  });
  const { read } = requests;
  const { refuse } = outbox;
  const inbox = createInbox({ share, pace: hub.messagePace, workOf: hub.workOf, read, refuse, overLimit, fail });
  return { ...parts, requests, sender, inbox, hasResumed: () => hasResumed };
}

export function createConnection(options: PushConnectionOptions): PushConnection {
  const { hub, transport, share, first } = options;
  let isStarted = false;
  let grace: NodeJS.Timeout | null = null;
  const parts = joinParts(options, { start, wake, end });
  const { place, outbox, subscriptions, snapshots, requests, sender, inbox } = parts;

  function wake(): void {
    if (isStarted) parts.sender.wake();
  }

  function start(): void {
    if (grace) clearTimeout(grace);
    isStarted = true;
    wake();
  }

  function startUnlessAsked(): void {
    if (inbox.isEmpty) start();
    else grace = setTimeout(startUnlessAsked, options.graceMs);
  }

  function end(code: number, reason: string): void {
    if (!outbox.isOpen) return;
    closed();
    transport.end(code, reason);
  }

  function closed(): void {
    outbox.close();
    if (grace) clearTimeout(grace);
    inbox.close();
    snapshots.close();
    share.close();
  }

  subscriptions.add(DEFAULT, {}, place.here());
  const { cursor, ...wish } = first;
  const isAsked = Object.values(wish).some((value) => value !== undefined);
  let refused: unknown = null;
  try {
    if (isAsked) requests.subscribe(first, null);
    else if (cursor !== undefined) requests.resume(cursor);
  } catch (error) {
    refused = error;
  }
  outbox.hello(hub.tips(), options.heartbeatMs / 1000); // with the cursor that it resumes from, if any
  if (refused !== null) requests.reject(null, refused);
  if (isAsked) start();
  else grace = setTimeout(startUnlessAsked, options.graceMs);

  return {
    get isLive() {
      return place.own === null && outbox.isOpen;
    },
    offer(eventsFor) {
      const events = subscriptions.confirmations().map(eventsFor);
      if (events.includes(null)) return false;
      outbox.together(() => {
        for (const some of events) if (some && !sender.sendLive(some)) return;
      });
      return true;
    },
    fallBehind(at) {
      place.stay(at);
      wake();
    },
    skip(feed, before) {
      if (parts.hasResumed()) place.stay(before);
      else place.moveTo(feed.key, { position: feed.head, index: 0 });
      wake();
    },
    wake,
    drained() {
      outbox.drained();
      wake();
    },
    receive(message) {
      if (outbox.isOpen) inbox.receive(message);
    },
    ping(bytes) {
      inbox.ping();
      outbox.ponged(bytes);
    },
    tick(now) {
      if (!outbox.isOpen) return;
      if (outbox.blockedSince !== null) {
        if (now - outbox.blockedSince >= options.slowMs) end(CLOSE_SLOW, outbox.closeReason);
        return;
      }
      if (!snapshots.isInTime(now)) return end(CLOSE_SLOW, outbox.closeReason);
      if (now - outbox.lastSentAt >= options.heartbeatMs) outbox.say('heartbeat', { chains: hub.tips() });
    },
    buffered: () => (outbox.isOpen ? transport.buffered() : 0),
    closed,
    closeWithError(why, closeCode) {
      outbox.refuse(null, why.code, why.detail);
      end(closeCode, why.code);
    },
    end,
  };
}
