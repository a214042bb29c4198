/** Clients of a run: bots that keep the cursor of the last event that they processed, die now and then, and read fast or slowly. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type FeedKey, feedKey } from '../../api/push/cursor.ts';
import { pushEvents } from '../../api/push/message-schema.ts';
import { openStream, type StreamEvent } from '../../client/stream/stream.ts';
import { type ClientHistory, type EventBook, UNDO_OF_PRICES, VALUED } from './history.ts';
import { sseMessages } from './sse-events.ts';

export const FOLLOWED = ['blocks', 'txs', 'conversions', 'reserves', 'identities', 'prices'] as const;
export type FollowedChannel = (typeof FOLLOWED)[number];

export interface FollowerOptions {
  readonly name: string;
  readonly baseUrl: string;
  readonly way: 'websocket' | 'sse';
  readonly channels: readonly FollowedChannel[];
  /** Whether it asks for conversions with a value; then `channels` has prices, too. */
  readonly byValue: boolean;
  readonly confirmations: number;
  readonly from: string;
  readonly slow: boolean;
  readonly random: () => number;
  readonly book: EventBook;
  readonly chains: readonly string[];
  readonly signal: AbortSignal;
}

export interface Follower {
  readonly history: ClientHistory;
  /** Connections that it made. */
  connections(): number;
  /** Settles when its signal has aborted. */
  readonly done: Promise<void>;
  /** Feeds that it has not yet received up to the records at `ends`. */
  waitsFor(ends: ReadonlyMap<FeedKey, number>): readonly FeedKey[];
}

/** Average number of events after which a bot dies, and after which a slow bot pauses. */
const LIFE = 3_000;
const BETWEEN_PAUSES = 40;
const LONGEST_PAUSE_MS = 150;
const RETRY_MS = [50, 1_000] as const;
/** Waiting events of a slow bot: so few that it reaches the limit. */
const SLOW_WAITING = 100;

export function follow(options: FollowerOptions): Follower {
  const { name, channels, byValue, confirmations, from, slow, random, book, signal } = options;
  const types = Object.entries(pushEvents).flatMap(([type, { channel }]) =>
    (channels as readonly string[]).includes(channel) ? [type] : [],
  );
  const asked = new Set([...types, 'undo']);
  if (byValue && asked.delete('conversion')) asked.add(VALUED);
  if (!byValue) asked.delete('conversion_correction');
  if (channels.includes('prices')) asked.add(UNDO_OF_PRICES);
  const history: ClientHistory = { client: name, types: asked, confirmations, from, events: [], faults: [] };
  const feeds = options.chains.flatMap((chain) => [
    feedKey('facts', chain),
    ...(channels.includes('prices') ? [feedKey('stamps', chain)] : []),
  ]);
  const heard = new Map<FeedKey, number>();
  let connections = 0;
  let cursor = from;

  function events(): AsyncIterable<StreamEvent> {
    const { baseUrl } = options;
    if (options.way === 'sse') return overSse();
    const onReconnect = () => {
      connections += 1;
    };
    const waiting = slow ? { mostWaiting: SLOW_WAITING } : {};
    const filter = byValue ? { filter: { minUsd: 0 } } : {};
    return openStream({
      baseUrl,
      channels: [...channels],
      ...filter,
      confirmations,
      cursor,
      signal,
      retryMs: RETRY_MS,
      onReconnect,
      ...waiting,
    });
  }

  async function* overSse(): AsyncGenerator<StreamEvent, void, void> {
    const url = `${options.baseUrl}/api/stream?channels=${channels.join(',')}${byValue ? '&minUsd=0' : ''}&confirmations=${confirmations}`;
    let seq = 0;
    for await (const message of sseMessages(url, cursor, signal)) {
      if (message.type !== 'hello' && message.seq !== ++seq) history.faults.push(`seq ${message.seq} after ${seq - 1}`);
      if ('data' in message || message.type === 'resync') yield message;
    }
    connections += 1;
    await sleep(RETRY_MS[0]);
  }

  async function live(): Promise<void> {
    for await (const event of events()) {
      if (event.type === 'resync') history.faults.push(`resync: ${event.reason}`);
      else if (event.type !== 'snapshot') {
        const entry = book.entry(event);
        history.events.push(entry);
        heard.set(entry.feed, entry.position);
      }
      cursor = event.cursor;
      if (random() < 1 / LIFE) return;
      if (slow && random() < 1 / BETWEEN_PAUSES) await sleep(random() * LONGEST_PAUSE_MS);
    }
  }

  async function run(): Promise<void> {
    for (; !signal.aborted; connections += 1) await live();
  }

  return {
    history,
    connections: () => connections,
    done: run(),
    waitsFor: (ends) => feeds.filter((feed) => (heard.get(feed) ?? -1) < (ends.get(feed) ?? 0)),
  };
}
