/** The subscriptions of one connection: which events it wants, each of them once. */
import type { MessageId, SubscribeMessage } from './client-message.ts';
import type { Places } from './cursor.ts';
import type { Hub } from './hub.ts';
import { MAX_ADDRESSES, MAX_SUBSCRIPTIONS } from './limits.ts';
import { isBefore } from './places.ts';
import type { PushEvent } from './push-event.ts';
import { createSubscription, type Subscription, SubscriptionRefused } from './subscription.ts';

/** Of what a connection gets until it subscribes. */
export const DEFAULT = Symbol('default subscription');
export type SubscriptionKey = MessageId | typeof DEFAULT;

export interface SubscriptionSet {
  /**
   * Active from `from` on; takes the place of one with the same key, and of the default one.
   * @throws SubscriptionRefused; LimitExceeded, with the set as it was
   */
  add(key: SubscriptionKey, wish: Omit<SubscribeMessage, 'op' | 'cursor'>, from: Places): Subscription;
  /** False when there was none. */
  remove(key: MessageId): boolean;
  /** The connection goes back from `place`: what each subscription has had by then, it does not get again. */
  takenBack(place: Places): void;
  /** Whether the event is to be sent to a connection that comes to it in order. */
  wants(event: PushEvent): boolean;
  /** The same for one that is at the end of the stream, where no subscription has a past to respect. */
  wantsLive(event: PushEvent): boolean;
}

export class LimitExceeded extends SubscriptionRefused {
  constructor(what: string) {
    super('limit_exceeded', '', `more than ${what} on one connection`);
  }
}

export function createSubscriptionSet(hub: Pick<Hub, 'chains' | 'idsOf'>): SubscriptionSet {
  const subscriptions = new Map<SubscriptionKey, Subscription>();

  function refuseTooMany(key: SubscriptionKey, added: Subscription): void {
    const others = [...subscriptions].filter(([other]) => other !== key && other !== DEFAULT);
    if (others.length >= MAX_SUBSCRIPTIONS) throw new LimitExceeded(`${MAX_SUBSCRIPTIONS} subscriptions`);
    const addresses = others.reduce((sum, [, other]) => sum + other.addressCount, added.addressCount);
    if (addresses > MAX_ADDRESSES) throw new LimitExceeded(`${MAX_ADDRESSES} addresses`);
  }

  return {
    add(key, wish, from) {
      const subscription = createSubscription(wish, hub.chains, hub.idsOf, from);
      refuseTooMany(key, subscription);
      subscriptions.delete(DEFAULT);
      subscriptions.set(key, subscription);
      return subscription;
    },
    remove: (key) => subscriptions.delete(key),
    takenBack(place) {
      for (const subscription of subscriptions.values()) subscription.seen = place;
    },
    wants(event) {
      let wanted = false;
      for (const subscription of subscriptions.values()) {
        if (isBefore(event, subscription.from) || !subscription.matches(event)) continue;
        if (isBefore(event, subscription.seen)) return false;
        wanted = true;
      }
      return wanted;
    },
    wantsLive(event) {
      for (const subscription of subscriptions.values()) if (subscription.matches(event)) return true;
      return false;
    },
  };
}
