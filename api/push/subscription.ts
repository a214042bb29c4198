/** A client's subscription, and the test whether an event matches it. */
import { leastUsd } from '../http/usd.ts';
import type { SubscribeMessage } from './client-message.ts';
import type { FeedPlaces, FeedTopicName } from './cursor.ts';
import { entriesOf, filterSize, LISTS } from './filter-size.ts';
import { CHANNELS, type Channel, type EventSubjects, type PushEvent } from './push-event.ts';
import { shortened } from './shortened.ts';
import { SNAPSHOT_CHANNELS, type SnapshotChannel } from './snapshot-rows.ts';
import { SubscriptionRefused } from './subscription-refused.ts';

export interface Subscription {
  readonly channels: ReadonlySet<Channel>;
  readonly chains: ReadonlySet<string>;
  /** Further blocks on top of an event's block when the event is sent. */
  readonly confirmations: number;
  /** Entries of its filter, repeated ones included. */
  readonly entries: number;
  /** Approximate bytes in memory. */
  readonly bytes: number;
  /** The channels whose state is sent first. */
  readonly snapshot: readonly SnapshotChannel[];
  /** Active from here on; changes when its snapshot has been sent, or if its place turns out to belong to another log. */
  from: FeedPlaces;
  /** It has received its events up to here. Not updated with every event: only if the connection goes back, and after a snapshot. */
  seen: FeedPlaces;
  matches(event: PushEvent): boolean;
  /** Whether it includes the mempool of the chain. */
  coversMempool(chain: string): boolean;
  /** Whether it matches a waiting transaction: one matching part is enough. */
  matchesWaiting(chain: string, parts: readonly EventSubjects[]): boolean;
}

/** Resolves a name or address in a list of a filter to the addresses that it may mean, those on the default chain first. */
export type IdsOf = (text: string, list: (typeof LISTS)[number]) => readonly string[];

/** Refuses an invalid filter before hashing any name. @throws SubscriptionRefused, LimitExceeded */
export function createSubscription(
  {
    channels = ['blocks'],
    chains,
    filter = {},
    confirmations = 0,
    snapshot = false,
  }: Omit<SubscribeMessage, 'op' | 'id' | 'cursor'>,
  configured: readonly string[],
  idsOf: IdsOf,
  from: FeedPlaces,
): Subscription {
  const wanted = new Set(channels.map(checkedChannel));
  const named = new Set((chains ?? configured).map((chain) => checkedChain(chain, configured)));
  const snapshotOf = snapshot ? SNAPSHOT_CHANNELS.filter((channel) => wanted.has(channel)) : [];
  if (snapshot) refuseSnapshot(snapshotOf, confirmations);
  const { entries } = filterSize(filter);
  if (wanted.has('addresses') && filter.address === undefined) {
    throw new SubscriptionRefused('filter_required', '/filter/address', 'channel addresses needs filter.address');
  }
  const [currencies, baskets, identities, addresses] = LISTS.map((list) =>
    filter[list] === undefined ? null : new Set(entriesOf(filter, list).flatMap((entry) => idsOf(entry, list))),
  ) as [IdSet, IdSet, IdSet, IdSet];
  const passes = (subjects: EventSubjects) =>
    isAmong(currencies, subjects.currencies) &&
    isAmong(baskets, subjects.basket) &&
    isAmong(identities, subjects.identity) &&
    isAmong(addresses, subjects.addresses);
  const minUsd = filter.minUsd === undefined ? undefined : leastUsd(filter.minUsd);
  /** Accepts a conversion as it happens, and when its stamp corrects it; with `minUsd`, once its value is known. */
  const isAskedFor = ({ channel, topic }: PushEvent, { usdValue, isCorrection }: EventSubjects) =>
    channel !== 'conversions' ||
    (minUsd === undefined
      ? topic === 'facts' || isCorrection === true
      : typeof usdValue === 'bigint' && usdValue >= minUsd);
  const isOfInterest = (event: PushEvent, subjects: EventSubjects) => isAskedFor(event, subjects) && passes(subjects);
  const topicOf = (channel: Channel): FeedTopicName =>
    channel === 'prices' || (channel === 'conversions' && minUsd !== undefined) ? 'stamps' : 'facts';
  const topics = new Set([...wanted].map(topicOf));
  const coversMempool = (chain: string) => wanted.has('mempool') && named.has(chain);
  return {
    channels: wanted,
    chains: named,
    confirmations,
    snapshot: snapshotOf,
    entries,
    bytes: SUBSCRIPTION_BYTES + bytesOf([currencies, baskets, identities, addresses]),
    from,
    seen: from,
    matches: (event) =>
      named.has(event.chain) &&
      event.confirmations === confirmations &&
      (event.channel === 'undo'
        ? topics.has(event.topic)
        : wanted.has(event.channel) &&
          (isOfInterest(event, event.subjects) ||
            (event.formerSubjects !== undefined && isOfInterest(event, event.formerSubjects)))),
    coversMempool,
    matchesWaiting: (chain, parts) => coversMempool(chain) && parts.some(passes),
  };
}

function refuseSnapshot(channels: readonly SnapshotChannel[], confirmations: number): void {
  const refuse = (detail: string) => new SubscriptionRefused('invalid_message', '/snapshot', detail);
  if (channels.length === 0) throw refuse(`a snapshot needs one of the channels ${SNAPSHOT_CHANNELS.join(', ')}`);
  if (confirmations > 0) throw refuse('a snapshot is of the newest block: it cannot wait for confirmations');
}

function checkedChannel(channel: string): Channel {
  const known = CHANNELS.find((name) => name === channel);
  if (known) return known;
  throw new SubscriptionRefused(
    'unknown_channel',
    '/channels',
    `unknown channel ${shortened(channel)}: there are ${CHANNELS.join(', ')}`,
  );
}

function checkedChain(chain: string, configured: readonly string[]): string {
  const name = chain.toLowerCase();
  if (configured.includes(name)) return name;
  throw new SubscriptionRefused(
    'unknown_chain',
    '/chains',
    `unknown chain ${shortened(chain)}: there are ${configured.join(', ')}`,
  );
}

/** Null if everything passes. */
type IdSet = ReadonlySet<string> | null;

/** Bytes of a subscription without a filter, and of a set's entry in addition to its characters. */
const SUBSCRIPTION_BYTES = 2_000;
const ENTRY_BYTES = 64;

function bytesOf(sets: readonly IdSet[]): number {
  let bytes = 0;
  for (const set of sets) for (const id of set ?? []) bytes += ENTRY_BYTES + 2 * id.length;
  return bytes;
}

/** A transaction may touch thousands of addresses: above this number, a filter's entries are looked up among them, not vice versa. */
const MANY_SUBJECTS = 16;
const subjectSets = new WeakMap<readonly string[], ReadonlySet<string>>();

function setOf(subjects: readonly string[]): ReadonlySet<string> {
  let set = subjectSets.get(subjects);
  if (!set) {
    set = new Set(subjects);
    subjectSets.set(subjects, set);
  }
  return set;
}

function isAmong(wanted: IdSet, subject: string | readonly string[] | null | undefined): boolean {
  if (!wanted || subject === undefined) return true;
  if (subject === null) return false;
  if (typeof subject === 'string') return wanted.has(subject);
  if (subject.length <= Math.max(MANY_SUBJECTS, wanted.size)) return subject.some((id) => wanted.has(id));
  const subjects = setOf(subject);
  for (const id of wanted) if (subjects.has(id)) return true;
  return false;
}
