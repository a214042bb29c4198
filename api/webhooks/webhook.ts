/** A webhook as it was registered, and which events of the push stream it is told. */

import { ApiError } from '../http/api-error.ts';
import type { Filter } from '../push/client-message.ts';
import type { Channel, PushEvent } from '../push/push-event.ts';
import { createSubscription, type IdsOf, type Subscription } from '../push/subscription.ts';

/** Kinds that follow from an event of the push stream, by its channel. */
const KIND_OF_CHANNEL = {
  blocks: 'block',
  undo: 'reorg',
  addresses: 'address.activity',
  identities: 'identity.updated',
  conversions: 'conversion.completed',
} as const satisfies Partial<Record<Channel | 'undo', string>>;

export type Kind = (typeof KIND_OF_CHANNEL)[keyof typeof KIND_OF_CHANNEL];
export const KINDS: readonly Kind[] = Object.values(KIND_OF_CHANNEL);

export interface Asked {
  readonly events: readonly Kind[];
  /** All configured ones when it is null. */
  readonly chains: readonly string[] | null;
  /** As in a subscription of the push stream. */
  readonly filter: Filter;
}

/** What a webhook listens to. */
export interface Interest {
  /** Null for what it is not told. */
  kindOf(event: PushEvent): Kind | null;
}

export function kindOfEvent({ channel, subjects }: PushEvent): Kind | null {
  if (channel === 'conversions' && subjects.status !== 'completed') return null;
  return Object.hasOwn(KIND_OF_CHANNEL, channel) ? KIND_OF_CHANNEL[channel as keyof typeof KIND_OF_CHANNEL] : null;
}

/** @throws SubscriptionRefused, ApiError invalid_parameter */
export function createInterest(asked: Asked, configured: readonly string[], idsOf: IdsOf): Interest {
  const kinds = new Set<Kind>(asked.events);
  const { filter, chains } = asked;
  if (kinds.has('address.activity') && filter.address === undefined) {
    throw new ApiError('invalid_parameter', 'events address.activity needs filter.address');
  }
  const channels = Object.entries(KIND_OF_CHANNEL).flatMap(([channel, kind]) =>
    kinds.has(kind) && channel !== 'undo' ? [channel] : [],
  );
  const subscription: Pick<Subscription, 'matches'> = createSubscription(
    { channels, filter, ...(chains && { chains }) },
    configured,
    idsOf,
    new Map(),
  );
  return {
    kindOf(event) {
      const kind = kindOfEvent(event);
      return kind !== null && kinds.has(kind) && subscription.matches(event) ? kind : null;
    },
  };
}
