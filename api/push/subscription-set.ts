/** The subscriptions of one connection: decides which events it wants, each of them once. */
import type { MessageId, SubscribeMessage } from './client-message.ts';
import type { FeedKey, FeedPlace, FeedPlaces } from './cursor.ts';
import { filterSize } from './filter-size.ts';
import type { Hub } from './hub.ts';
import { MAX_FILTER_ENTRIES, MAX_SUBSCRIPTIONS } from './limits.ts';
import type { NetworkShare } from './network-share.ts';
import { isAtOrAfter, isBefore, isBeforePlaces, laterOf } from './places.ts';
import type { EventSubjects, PushEvent } from './push-event.ts';
import { createSubscription, type Subscription } from './subscription.ts';
import { LimitExceeded } from './subscription-refused.ts';

/** Key of the implicit subscription of a connection until it subscribes. */
export const DEFAULT = Symbol('default subscription');
export type SubscriptionKey = MessageId | typeof DEFAULT;

export interface SubscriptionSet {
  /**
   * Adds a subscription that is active from `from` on. It replaces one with the same key, and the default one; with `asksAgain`, events
   * that replaced and ended subscriptions have received may be sent again.
   * @throws SubscriptionRefused; LimitExceeded; ApiError if the network holds too much; then the set is unchanged
   */
  add(
    key: SubscriptionKey,
    wish: Omit<SubscribeMessage, 'op' | 'cursor'>,
    from: FeedPlaces,
    asksAgain?: boolean,
  ): Subscription;
  has(subscription: Subscription): boolean;
  /** Returns false if there was no such subscription. */
  remove(key: SubscriptionKey): boolean;
  /** Call it when the connection goes back from `place`: no subscription gets an event again that it had received by then. */
  rewoundTo(place: FeedPlaces): void;
  /** The log has no place `unknown`: moves subscriptions at this place or later back to `end`. */
  moveBackTo(feed: FeedKey, end: FeedPlace, unknown: FeedPlace): void;
  /** Whether a subscription starts, or has received events, at this place or later. */
  standsAt(feed: FeedKey, place: FeedPlace): boolean;
  /** Whether a subscription starts, or has received events, beyond these places, in any feed. */
  isAhead(of: FeedPlaces): boolean;
  /** Whether the connection has another subscription than this one. */
  hasOther(subscription: Subscription): boolean;
  /** Numbers of confirmations that subscriptions ask for, ascending. */
  confirmations(): readonly number[];
  /** The same, only of subscriptions that are active at this record. */
  confirmationsAt(feed: FeedKey, position: number): readonly number[];
  /** Whether to send the event to a connection that reaches it in order. */
  wants(event: PushEvent): boolean;
  /** The same for a connection at the end of the stream, where it does not matter what subscriptions have received before. */
  wantsLive(event: PushEvent): boolean;
  /** Whether a subscription includes the mempool of the chain, which has no place in the stream. */
  coversMempool(chain: string): boolean;
  wantsWaiting(chain: string, parts: readonly EventSubjects[]): boolean;
}

type Holding = Parameters<NetworkShare['hold']>[0];

const NOTHING: Holding = { subscriptions: 0, bytes: 0 };

/** The default subscription counts as part of its connection. */
const holdingOf = (key: SubscriptionKey, { bytes }: Subscription): Holding =>
  key === DEFAULT ? NOTHING : { subscriptions: 1, bytes };

const less = (held: Holding, by: Holding): Holding => ({
  subscriptions: held.subscriptions - by.subscriptions,
  bytes: held.bytes - by.bytes,
});

/** Checks the limits before any name is hashed. @throws LimitExceeded */
function refuseTooMany(others: readonly Subscription[], entries: number): void {
  if (others.length >= MAX_SUBSCRIPTIONS)
    throw new LimitExceeded(`a connection may have ${MAX_SUBSCRIPTIONS} subscriptions`);
  const sum = others.reduce((total, other) => total + other.entries, entries);
  if (sum > MAX_FILTER_ENTRIES) {
    throw new LimitExceeded(`the filters of a connection may have ${MAX_FILTER_ENTRIES} entries together`);
  }
}

const confirmationsOf = (of: Iterable<Subscription>): number[] =>
  [...new Set(Array.from(of, (subscription) => subscription.confirmations))].sort((a, b) => a - b);

export function createSubscriptionSet(
  hub: Pick<Hub, 'chains' | 'idsOf'>,
  share: Pick<NetworkShare, 'hold'>,
  here: () => FeedPlaces,
): SubscriptionSet {
  const subscriptions = new Map<SubscriptionKey, Subscription>();
  /** Ended subscriptions that have received events which the connection reaches again for others. */
  let past: (readonly [SubscriptionKey, Subscription])[] = [];
  let confirmations: readonly number[] = [];

  function changed(): void {
    confirmations = confirmationsOf(subscriptions.values());
  }

  /** Keeps the ended subscriptions whose events the connection reaches again, up to a bound. Adds `added` to what the network holds. */
  function keepPast(ended: typeof past, added: Holding = NOTHING): void {
    const at = here();
    const all = [...past, ...ended];
    const kept = all.filter(([, { seen }]) => isBeforePlaces(at, seen)).slice(-MAX_SUBSCRIPTIONS);
    forget(all, kept, added);
  }

  /** @throws ApiError; then nothing has changed */
  function forget(all: typeof past, kept: typeof past, added: Holding = NOTHING): void {
    const dropped = all.filter((one) => !kept.includes(one));
    share.hold(dropped.reduce((held, one) => less(held, holdingOf(...one)), added));
    past = kept;
  }

  const isSeen = (event: PushEvent, { from, seen, matches }: Subscription): boolean =>
    isBefore(event, seen) && !isBefore(event, from) && matches(event);

  return {
    add(key, wish, from, asksAgain = false) {
      const isReplaced = ([other]: readonly [SubscriptionKey, Subscription]) => other === key || other === DEFAULT;
      const replaced = [...subscriptions].filter(isReplaced);
      const kept = [...subscriptions].filter((one) => !isReplaced(one)).map(([, subscription]) => subscription);
      refuseTooMany(kept, filterSize(wish.filter ?? {}).entries);
      const subscription = createSubscription(wish, hub.chains, hub.idsOf, from);
      const added = holdingOf(key, subscription);
      if (asksAgain) forget([...past, ...replaced], [], added);
      else keepPast(replaced, added);
      for (const [old] of replaced) subscriptions.delete(old);
      subscriptions.set(key, subscription);
      changed();
      return subscription;
    },
    has: (subscription) => [...subscriptions.values()].includes(subscription),
    remove(key) {
      const removed = subscriptions.get(key);
      if (!removed) return false;
      subscriptions.delete(key);
      changed();
      keepPast([[key, removed]]);
      return true;
    },
    confirmations: () => confirmations,
    confirmationsAt: (feed, position) =>
      subscriptions.size === 1
        ? confirmations
        : confirmationsOf(
            [...subscriptions.values()].filter(({ from }) => (from.get(feed)?.position ?? 0) <= position),
          ),
    rewoundTo(place) {
      for (const subscription of subscriptions.values()) subscription.seen = laterOf(subscription.seen, place);
    },
    moveBackTo(feed, end, unknown) {
      const movedBack = (places: FeedPlaces): FeedPlaces =>
        isAtOrAfter(places.get(feed), unknown) ? new Map(places).set(feed, end) : places;
      for (const subscription of subscriptions.values()) {
        subscription.from = movedBack(subscription.from);
        subscription.seen = movedBack(subscription.seen);
      }
    },
    standsAt: (feed, place) =>
      [...subscriptions.values()].some(({ from, seen }) => [from, seen].some((at) => isAtOrAfter(at.get(feed), place))),
    isAhead(of) {
      if (past.length > 0) keepPast([]);
      const all = [...subscriptions.values()];
      return past.length > 0 || all.some(({ from, seen }) => isBeforePlaces(of, from) || isBeforePlaces(of, seen));
    },
    hasOther: (subscription) => [...subscriptions.values()].some((other) => other !== subscription),
    wants(event) {
      let wanted = false;
      for (const subscription of subscriptions.values()) {
        if (isBefore(event, subscription.from) || !subscription.matches(event)) continue;
        if (isBefore(event, subscription.seen)) return false;
        wanted = true;
      }
      return wanted && !past.some(([, subscription]) => isSeen(event, subscription));
    },
    coversMempool: (chain) => [...subscriptions.values()].some((one) => one.coversMempool(chain)),
    wantsWaiting: (chain, parts) => [...subscriptions.values()].some((one) => one.matchesWaiting(chain, parts)),
    wantsLive(event) {
      for (const subscription of subscriptions.values()) if (subscription.matches(event)) return true;
      return false;
    },
  };
}
