/** What a client has asked to hear, and whether an event is part of it. */
import { ApiError } from '../http/api-error.ts';
import type { Filter, SubscribeMessage } from './client-message.ts';
import type { FeedTopicName, Places } from './cursor.ts';
import { CHANNELS, type Channel, type PushEvent } from './push-event.ts';

export interface Subscription {
  readonly channels: ReadonlySet<Channel>;
  readonly chains: ReadonlySet<string>;
  /** Distinct addresses of its filter. */
  readonly addressCount: number;
  /** Active from here on. */
  readonly from: Places;
  /** Up to here it has had its events; moves only when the connection is taken back. */
  seen: Places;
  matches(event: PushEvent): boolean;
}

export class SubscriptionRefused extends ApiError {
  readonly reason: string;
  /** `at`: pointer into what was asked, '' for all of it. */
  constructor(reason: string, at: string, message: string) {
    super('invalid_parameter', message, { errors: [{ pointer: at, detail: message }] });
    this.reason = reason;
  }
}

/** Name or i-address → i-addresses that it may mean, one for each chain. */
export type IdsOf = (text: string) => readonly string[];

/** @throws SubscriptionRefused */
export function createSubscription(
  { channels = ['blocks'], chains, filter = {} }: Omit<SubscribeMessage, 'op' | 'id' | 'cursor'>,
  configured: readonly string[],
  idsOf: IdsOf,
  from: Places,
): Subscription {
  const wanted = new Set(channels.map(checkedChannel));
  const named = new Set((chains ?? configured).map((chain) => checkedChain(chain, configured)));
  const currencies = idSet(filter.currency, idsOf);
  const baskets = idSet(filter.basket, idsOf);
  const identities = idSet(filter.identity, idsOf);
  const addresses = idSet(filter.address, idsOf);
  if (wanted.has('addresses') && !addresses) {
    throw new SubscriptionRefused('filter_required', '/filter/address', 'channel addresses needs filter.address');
  }
  const passes = ({ subjects }: PushEvent) =>
    isAmong(currencies, subjects.currencies) &&
    isAmong(baskets, subjects.basket) &&
    isAmong(identities, subjects.identity) &&
    isAmong(addresses, subjects.addresses);
  const { minUsd } = filter;
  /** A conversion is told of as it happens, or, to who asks by value, once that is known. */
  const isAskedFor = ({ channel, topic, subjects: { usdValue } }: PushEvent) =>
    channel !== 'conversions' ||
    (minUsd === undefined ? topic === 'facts' : typeof usdValue === 'number' && usdValue >= minUsd);
  const topicOf = (channel: Channel): FeedTopicName =>
    channel === 'prices' || (channel === 'conversions' && minUsd !== undefined) ? 'stamps' : 'facts';
  const topics = new Set([...wanted].map(topicOf));
  return {
    channels: wanted,
    chains: named,
    addressCount: addresses?.size ?? 0,
    from,
    seen: from,
    matches: (event) =>
      named.has(event.chain) &&
      (event.channel === 'undo'
        ? topics.has(event.topic)
        : wanted.has(event.channel) && isAskedFor(event) && passes(event)),
  };
}

function checkedChannel(channel: string): Channel {
  const known = CHANNELS.find((name) => name === channel);
  if (known) return known;
  throw new SubscriptionRefused(
    'unknown_channel',
    '/channels',
    `unknown channel ${JSON.stringify(channel)}: there are ${CHANNELS.join(', ')}`,
  );
}

function checkedChain(chain: string, configured: readonly string[]): string {
  const name = chain.toLowerCase();
  if (configured.includes(name)) return name;
  throw new SubscriptionRefused(
    'unknown_chain',
    '/chains',
    `unknown chain ${JSON.stringify(chain)}: there are ${configured.join(', ')}`,
  );
}

function idSet(value: Filter[keyof Filter] | undefined, idsOf: IdsOf): ReadonlySet<string> | null {
  if (value === undefined) return null;
  const texts = (Array.isArray(value) ? value : [value]) as string[];
  return new Set(texts.flatMap((text) => idsOf(text)));
}

function isAmong(wanted: ReadonlySet<string> | null, subject: string | readonly string[] | null | undefined): boolean {
  if (!wanted || subject === undefined) return true;
  if (subject === null) return false;
  return typeof subject === 'string' ? wanted.has(subject) : subject.some((id) => wanted.has(id));
}
