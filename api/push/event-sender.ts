/** Sends one client what it still lacks: records in memory, due snapshots and the mempool, for a slice of time each. */
import { RetryableError } from '../../schemas/errors.ts';
import type { Served } from './catch-up.ts';
import type { ClientPlace } from './client-place.ts';
import type { MissingRecord } from './confirmed-events.ts';
import { encodePlaces, type FeedKey } from './cursor.ts';
import type { Hub } from './hub.ts';
import type { MempoolReader } from './mempool-reader.ts';
import type { Outbox } from './outbox.ts';
import { isShortOf, placeAfter } from './places.ts';
import type { SnapshotSender } from './snapshot-sender.ts';
import type { SubscriptionSet } from './subscription-set.ts';
import type { LiveEvent } from './transport.ts';

/** Pause between two reads of an unreachable log; the chain's feed, which reads it as well, logs the warning. */
const RETRY_MS = 1_000;

export interface EventSenderOptions {
  readonly hub: Hub;
  readonly network: string;
  readonly place: ClientPlace;
  readonly outbox: Outbox;
  readonly subscriptions: SubscriptionSet;
  readonly snapshots: SnapshotSender;
  readonly mempool: MempoolReader;
  /** Called when the log no longer keeps a record that the client still needs. */
  readonly onExpired: (feed: FeedKey) => void;
  /** Ends the connection because of a fault of the service. */
  readonly fail: (error: unknown) => void;
}

export interface EventSender {
  /** Asks for a turn if there is something to send. */
  wake(): void;
  /** Sends the events of a record to a live client; stops and returns false when the socket accepts no more. */
  sendLive(events: readonly LiveEvent[]): boolean;
}

export function createEventSender(options: EventSenderOptions): EventSender {
  const { hub, place, outbox, subscriptions, snapshots, mempool, fail } = options;
  /** By feed: the position before which blocks that await confirmations are no longer in the log. */
  const floors = new Map<FeedKey, number>();
  const sendRecent = createRecentEvents(options, floors);
  /** Set while the log is unreachable. */
  let retry: NodeJS.Timeout | null = null;

  /** Whether there is something to send now: the mempool, events up to the next snapshot, or a part of the snapshot. */
  function isBehind(): boolean {
    if (!outbox.isTakingMore) return false;
    if (mempool.isBehind) return true;
    const { own } = place;
    if (own === null) return false;
    if (snapshots.isReading()) return false;
    if (snapshots.isReady()) return true;
    if (snapshots.isDue()) return isShortOf(hub.feeds, own, snapshots.places() ?? hub.places());
    // There is nothing to send to a client ahead of the hub: the hub's next record wakes it.
    return (hub.isAt(own) && !subscriptions.isAhead(own)) || isShortOf(hub.feeds, own, hub.places());
  }

  /** Whether the client needs another turn; if not, reads its next snapshot if it is time. */
  function goesOn(): boolean {
    if (isBehind()) return true;
    snapshots.readNext();
    return false;
  }

  function send(): MissingRecord | null {
    let missing: MissingRecord | null = null;
    const isTakingMore = () => outbox.isTakingMore;
    outbox.together(() => {
      if (snapshots.isReady()) snapshots.send();
      else missing = sendRecent();
      if (isTakingMore() && !snapshots.isReady()) mempool.send(performance.now() + hub.pace.sliceMs, isTakingMore);
    });
    return missing;
  }

  function expired({ feed, position }: MissingRecord): void {
    // The missing record has blocks that await their confirmations.
    if (position < (place.own?.get(feed)?.position ?? 0)) floors.set(feed, hub.places().get(feed)?.position ?? 0);
    options.onExpired(feed);
  }

  const served: Served = {
    network: options.network,
    async serve() {
      if (retry) return false;
      try {
        const missing = isBehind() ? send() : null;
        if (!missing) return goesOn();
        if (missing.isTooFar || !(await hub.load(missing.feed, missing.position))) expired(missing);
        if (hub.pace.isSpent()) await hub.pace.rest();
        // Send at once, before the loaded record is evicted for other clients.
        if (isBehind()) send();
        return goesOn();
      } catch (error) {
        if (error instanceof RetryableError) waitForLog();
        else fail(error);
        return false;
      }
    },
  };

  function wake(): void {
    if (!retry && goesOn()) hub.serve(served);
  }

  function waitForLog(): void {
    retry ??= setTimeout(() => {
      retry = null;
      wake();
    }, RETRY_MS).unref();
  }

  return {
    wake,
    sendLive(events) {
      for (const live of events) {
        if (!subscriptions.wantsLive(live.event)) continue;
        outbox.sendLive(live);
        if (place.own === null) continue;
        place.moveTo(live.event.feed, placeAfter(live.event)); // the rest of the record is still to come
        return false;
      }
      return true;
    },
  };
}

/**
 * Sends the events between the client's place and the hub's, for a slice of time; returns the record that must be read first,
 * if any.
 */
function createRecentEvents(
  { hub, place, outbox, subscriptions, snapshots }: EventSenderOptions,
  floors: ReadonlyMap<FeedKey, number>,
): () => MissingRecord | null {
  return () => {
    const { own } = place;
    if (own === null || snapshots.isReading()) return null;
    const end = performance.now() + hub.pace.sliceMs;
    for (const feed of hub.feeds) {
      for (;;) {
        const at = own.get(feed.key) ?? { position: feed.head, index: 0 };
        if (at.position >= Math.min(feed.head, snapshots.places()?.get(feed.key)?.position ?? feed.head)) break;
        const confirmations = subscriptions.confirmationsAt(feed.key, at.position);
        const part = hub.nextEvents(feed, at, confirmations, floors.get(feed.key));
        if ('position' in part) return { feed: feed.key, ...part };
        for (const event of part.events) {
          place.moveTo(feed.key, placeAfter(event));
          if (subscriptions.wants(event)) outbox.sendEvent(event, encodePlaces(own, snapshots.isDue()));
          if (!outbox.isTakingMore || performance.now() >= end) return null;
        }
        place.moveTo(feed.key, part.after);
        if (performance.now() >= end) return null;
      }
    }
    if (!snapshots.isDue() && !subscriptions.isAhead(own)) place.joinHub();
    return null;
  };
}
