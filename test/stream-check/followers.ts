/** Clients of a run: bots that keep the cursor of what they have dealt with, die now and then, and read fast or slowly. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainEvent } from '../../client/stream/messages.ts';
import { openStream, type StreamEvent } from '../../client/stream/stream.ts';
import { pushEvents } from '../../schemas/rest/push-messages.ts';
import type { EventBook, History } from './history.ts';
import { sseMessages } from './sse-events.ts';

export const FOLLOWED = ['blocks', 'txs', 'conversions', 'reserves', 'identities'] as const;
export type FollowedChannel = (typeof FOLLOWED)[number];

export interface FollowerOptions {
  readonly name: string;
  readonly baseUrl: string;
  readonly way: 'websocket' | 'sse';
  readonly channels: readonly FollowedChannel[];
  readonly from: string;
  readonly slow: boolean;
  readonly random: () => number;
  readonly book: EventBook;
  /** Whether a chain ends with this event. */
  readonly isLast: (event: ChainEvent) => boolean;
  readonly chains: readonly string[];
  readonly signal: AbortSignal;
}

export interface Follower {
  readonly history: History;
  /** Connections that it made. */
  connections(): number;
  /** Settles when every chain has ended. */
  readonly done: Promise<void>;
  /** Chains that have not. */
  waitsFor(): readonly string[];
}

/** Of events: after how many a bot dies on average, and how many a slow one takes to pause. */
const LIFE = 3_000;
const BETWEEN_PAUSES = 40;
const LONGEST_PAUSE_MS = 150;
const RETRY_MS = [50, 1_000] as const;
/** So few that a slow one meets it. */
const SLOW_WAITING = 100;

export function follow(options: FollowerOptions): Follower {
  const { name, channels, from, slow, random, book, isLast, signal } = options;
  const types = Object.entries(pushEvents).flatMap(([type, { channel }]) =>
    (channels as readonly string[]).includes(channel) ? [type] : [],
  );
  const history: History = { client: name, types: new Set(types), from, events: [], faults: [] };
  const running = new Set(options.chains);
  let connections = 0;
  let cursor = from;

  function events(): AsyncIterable<StreamEvent> {
    const { baseUrl } = options;
    if (options.way === 'sse') return overSse();
    const onReconnect = () => {
      connections += 1;
    };
    const waiting = slow ? { mostWaiting: SLOW_WAITING } : {};
    return openStream({ baseUrl, channels: [...channels], cursor, signal, retryMs: RETRY_MS, onReconnect, ...waiting });
  }

  async function* overSse(): AsyncGenerator<StreamEvent, void, void> {
    const url = `${options.baseUrl}/api/stream?channels=${channels.join(',')}`;
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
      else history.events.push(book.entry(event));
      cursor = event.cursor;
      if (event.type !== 'resync' && isLast(event)) running.delete(event.chain);
      if (running.size === 0 || random() < 1 / LIFE) return;
      if (slow && random() < 1 / BETWEEN_PAUSES) await sleep(random() * LONGEST_PAUSE_MS);
    }
  }

  async function run(): Promise<void> {
    for (; running.size > 0 && !signal.aborted; connections += 1) await live();
  }

  return { history, connections: () => connections, done: run(), waitsFor: () => [...running] };
}
