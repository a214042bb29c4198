/** A registered webhook, and the events of the push stream that it receives. */

import { isIdentityAddress } from '../../domain/addresses.ts';
import { parameterError } from '../http/api-error.ts';
import type { Filter } from '../push/client-message.ts';
import { entryWork, filterSize } from '../push/filter-size.ts';
import type { Names } from '../push/names.ts';
import type { Channel, PushEvent } from '../push/push-event.ts';
import { createSubscription, type IdsOf, type Subscription } from '../push/subscription.ts';
import { decimalMembers, parseWithDecimals } from '../schema/written-decimal.ts';
import { type Kind, webhookRequest } from './request-schema.ts';

/** Kinds that follow from an event of the push stream, by its channel. */
const KIND_OF_CHANNEL = {
  blocks: 'block',
  undo: 'reorg',
  addresses: 'address.activity',
  identities: 'identity.updated',
  conversions: 'conversion.completed',
} as const satisfies Partial<Record<Channel | 'undo', Kind>>;

/** Depends on earlier prices, which no event contains. */
const PRICE_KIND = 'price.threshold' satisfies Kind;

export interface RequestedThreshold {
  /** Name or i-address. */
  readonly currency: string;
  /** The number's digits, as text. */
  readonly usd: string;
  readonly direction: 'above' | 'below' | 'both';
}

export interface Threshold extends RequestedThreshold {
  readonly currencyId: string;
}

export interface WebhookSubscription {
  readonly events: readonly Kind[];
  /** Null for all configured chains. */
  readonly chains: readonly string[] | null;
  /** As in a subscription of the push stream. */
  readonly filter: Filter;
  readonly thresholds: readonly RequestedThreshold[];
}

const DECIMALS = decimalMembers(webhookRequest);

/** Parses a stored registration. */
export function parseWebhookSubscription(text: string): WebhookSubscription {
  return parseWithDecimals(text, DECIMALS) as WebhookSubscription;
}

/** Drops chains that are no longer configured, which have no events. */
export function amongConfigured(asked: WebhookSubscription, configured: readonly string[]): WebhookSubscription {
  return { ...asked, chains: asked.chains?.filter((chain) => configured.includes(chain)) ?? null };
}

/** Events that a webhook subscribes to. */
export interface Interest {
  /** Null for an event that it does not receive. */
  kindOf(event: PushEvent): Kind | null;
  /** Whether it subscribes to the chain. */
  hears(chain: string): boolean;
  /** Empty if it does not subscribe to prices. */
  readonly thresholds: readonly Threshold[];
}

function kindOfEvent({ channel, subjects }: PushEvent): Kind | null {
  if (channel === 'conversions' && subjects.status !== 'completed') return null;
  return Object.hasOwn(KIND_OF_CHANNEL, channel) ? KIND_OF_CHANNEL[channel as keyof typeof KIND_OF_CHANNEL] : null;
}

/** Work units of createInterest(), computed before any name is hashed. @throws ApiError invalid_parameter */
export function interestWork({ filter, thresholds }: WebhookSubscription): number {
  const named = thresholds.map(({ currency }) => entryWork(currency, 'currency', '/thresholds'));
  return named.reduce((sum, work) => sum + work, filterSize(filter).work);
}

/** @throws SubscriptionRefused, ApiError invalid_parameter */
export function createInterest(asked: WebhookSubscription, configured: readonly string[], idsOf: IdsOf): Interest {
  const kinds = new Set<Kind>(asked.events);
  const { filter, chains } = asked;
  if (kinds.has('address.activity') && filter.address === undefined) {
    throw parameterError('filter/address', 'events address.activity needs filter.address');
  }
  if (kinds.has(PRICE_KIND) !== asked.thresholds.length > 0) {
    throw parameterError('thresholds', `events ${PRICE_KIND} and thresholds need one another`);
  }
  const channels = Object.entries(KIND_OF_CHANNEL).flatMap(([channel, kind]) =>
    kinds.has(kind) && channel !== 'undo' ? [channel] : [],
  );
  const subscription: Pick<Subscription, 'chains' | 'matches'> = createSubscription(
    { channels, filter, ...(chains && { chains }) },
    configured,
    idsOf,
    new Map(),
  );
  return {
    thresholds: asked.thresholds.map((threshold) => ({
      ...threshold,
      currencyId: currencyIdOf(threshold.currency, idsOf),
    })),
    hears: (chain) => subscription.chains.has(chain),
    kindOf(event) {
      const kind = kindOfEvent(event);
      // A reorganisation concerns every subscriber, whatever its filter.
      if (kind === 'reorg')
        return kinds.has(kind) && event.topic === 'facts' && subscription.chains.has(event.chain) ? kind : null;
      return kind !== null && kinds.has(kind) && subscription.matches(event) ? kind : null;
    },
  };
}

/** Refuses unknown names, which may be typing errors; an address may be that of a future currency. @throws ApiError invalid_parameter */
export function refuseUnknown(thresholds: readonly RequestedThreshold[], names: Pick<Names, 'unknownCurrency'>): void {
  for (const { currency } of thresholds) {
    const unknown = isIdentityAddress(currency) ? null : names.unknownCurrency(currency);
    if (!unknown) continue;
    const { suggestions } = unknown;
    const hint = suggestions.length > 0 ? `: did you mean ${suggestions.join(' or ')}?` : '';
    const detail = `currency ${JSON.stringify(currency)} is not known${hint}`;
    throw parameterError('thresholds', detail);
  }
}

/** Resolves a name as on the default chain. @throws ApiError invalid_parameter */
function currencyIdOf(currency: string, idsOf: IdsOf): string {
  const id = idsOf(currency, 'currency').find(isIdentityAddress);
  if (id !== undefined) return id;
  throw parameterError('thresholds', `${JSON.stringify(currency)} cannot be a currency`);
}
