/**
 * The page's only stream. Events are collected and shown at most four times a second; all kept state is bounded, so that a tab may stay
 * open for weeks.
 */
import { batch, computed, effect, signal } from '@preact/signals';
import type { ServerMessage } from '../../client/stream/messages.ts';
import { openStream, type StreamEvent } from '../../client/stream/stream.ts';
import { messageOf } from '../text/message-of.ts';
import { chainMoved, retryFailed, streamBegan } from './answers.ts';
import { type BlockOfLane, forgetStanding, layBlocks, revertTo } from './lanes.ts';
import { applyMempool, isMempoolEvent, leaveMempool, type MempoolEvent } from './mempool.ts';
import { followsStream } from './place.ts';
import { type PriceEvent, type PriceNews, withEvents } from './price-news.ts';
import { noteTip, tips } from './tips.ts';

export type StreamState = 'live' | 'catching-up' | 'offline' | 'paused' | 'off';
export type ConversionNews = Extract<StreamEvent, { type: 'conversion' }>;

const connection = signal<'live' | 'catching-up' | 'offline'>('catching-up');
export const isPaused = signal(false);
export const streamState = computed<StreamState>(() => {
  if (!followsStream) return 'off';
  return isPaused.value ? 'paused' : connection.value;
});
export const sequence = signal(0);
export const cursor = signal<string | null>(null);
/** A message shown to the reader once: the stream lost its place, or caught up. */
export const notice = signal<string | null>(null);
export const news = signal<{ readonly conversions: readonly ConversionNews[]; readonly prices: readonly PriceNews[] }>({
  conversions: [],
  prices: [],
});
/** Number of blocks received by chain. */
export const arrivals = signal<Readonly<Record<string, number>>>({});

const FLUSH_MS = 250;
const HIDDEN_MS = 60_000;
const MOST_NEWS = 12;

let stop: AbortController | null = null;
/** Tip of each chain when the connection began; entries are removed as the stream reaches them, and null once all are reached. */
let behind: Map<string, number> | null = null;
let caughtUp = 0;
/** Sequence and cursor of the newest message; shown with the events. */
let heard: { seq: number; cursor: string | null } = { seq: 0, cursor: null };
let waiting: StreamEvent[] = [];
let flushing: ReturnType<typeof setTimeout> | null = null;

function connect(): void {
  if (stop || !followsStream || isPaused.value) return;
  stop = new AbortController();
  void follow(stop.signal);
}

function disconnect(): void {
  if (!stop) return;
  stop.abort();
  stop = null;
  leaveMempool();
  connection.value = 'offline';
}

async function follow(ended: AbortSignal): Promise<void> {
  const from = heard.cursor;
  connection.value = 'catching-up';
  const stream = openStream({
    baseUrl: location.origin,
    channels: ['blocks', 'conversions', 'prices', 'mempool'],
    ...(from !== null && { cursor: from }),
    signal: ended,
    onMessage: hear,
    onReconnect: () => {
      leaveMempool();
      if (!ended.aborted) connection.value = 'offline';
    },
  });
  try {
    for await (const event of stream) {
      waiting.push(event);
      flushSoon();
    }
  } catch (error) {
    if (ended.aborted) return;
    connection.value = 'offline';
    notice.value = messageOf(error);
  }
}

/** Called for every message before the message is read as an event. */
function hear(message: ServerMessage): void {
  if (message.type === 'hello') {
    connection.value = 'catching-up';
    behind = new Map();
    caughtUp = 0;
    for (const [chain, tip] of Object.entries(message.chains)) {
      const known = tips.value[chain];
      if (!tip || known?.hash === tip.hash) continue;
      if (heard.cursor !== null) behind.set(chain, tip.height);
      else if (known) {
        // No event will arrive for blocks between the first answers and this greeting.
        forgetStanding(chain);
        chainMoved(chain, true);
      }
    }
    if (heard.cursor === null) streamBegan(message.chains);
    heard = { seq: 0, cursor: heard.cursor ?? message.cursor };
    flushSoon();
    return;
  }
  const moves = message.type !== 'ack' && message.type !== 'error';
  heard = { seq: message.seq, cursor: moves ? message.cursor : heard.cursor };
  flushSoon();
  if (message.type === 'heartbeat' || (message.type === 'ack' && behind?.size === 0)) arriveAtTip();
  if (message.type === 'block' && behind) {
    caughtUp += 1;
    const height = behind.get(message.chain);
    if (height !== undefined && message.data.height >= height) behind.delete(message.chain);
    if (behind.size === 0) arriveAtTip();
  }
}

function arriveAtTip(): void {
  behind = null;
  if (caughtUp > 0) notice.value = `${caughtUp} ${caughtUp === 1 ? 'block' : 'blocks'} caught up, nothing missed`;
  caughtUp = 0;
  if (connection.value !== 'live') retryFailed();
  connection.value = 'live';
}

function flushSoon(): void {
  if (flushing === null) flushing = setTimeout(flush, FLUSH_MS);
}

function flush(): void {
  flushing = null;
  const events = waiting;
  waiting = [];
  batch(() => {
    sequence.value = heard.seq;
    cursor.value = heard.cursor;
    const blocks = new Map<string, BlockOfLane[]>();
    const lay = () => {
      for (const [chain, ofChain] of blocks) layBlocks(chain, ofChain);
      blocks.clear();
    };
    let { conversions, prices: priced } = news.value;
    let prices: PriceEvent[] = [];
    const mempool: MempoolEvent[] = [];
    const counts: Record<string, number> = { ...arrivals.value };
    const moved = new Map<string, boolean>();
    for (const event of events) {
      const { chain } = event;
      if (event.type === 'block') {
        const { height, hash, time, txCount, validationType } = event.data;
        const block = { height, hash, time, txCount, isStake: validationType === 'stake', cursor: event.cursor };
        blocks.set(chain, [...(blocks.get(chain) ?? []), block]);
        counts[chain] = (counts[chain] ?? 0) + 1;
        noteTip(chain, { height, hash, time: time * 1000 }, null);
        moved.set(chain, moved.get(chain) ?? false);
      } else if (event.type === 'undo') {
        lay();
        moved.set(chain, true);
        prices.push(event);
        if (event.data.of === undefined) {
          const { toHeight } = event.data;
          revertTo(chain, event.data);
          conversions = conversions.filter((told) => told.chain !== chain || told.data.height <= toHeight);
        }
      } else if (event.type === 'resync') {
        notice.value = `the place in the stream was no longer kept (${event.reason}): everything is read again`;
        lay();
        forgetStanding(chain);
        // Some of its news may have been reverted by events that did not arrive.
        conversions = conversions.filter((told) => told.chain !== chain);
        priced = priced.filter((told) => told.chain !== chain);
        prices = prices.filter((told) => told.chain !== chain);
        moved.set(chain, true);
      } else if (event.type === 'conversion') conversions = [event, ...conversions];
      else if (event.type === 'price') prices.push(event);
      else if (isMempoolEvent(event)) mempool.push(event);
      else if (event.type === 'price_correction') {
        prices.push(event);
        // Without a new block, shown answers of the chain would stay provisional.
        moved.set(chain, moved.get(chain) ?? false);
      }
    }
    lay();
    if (mempool.length > 0) applyMempool(mempool);
    arrivals.value = counts;
    news.value = {
      conversions: conversions.slice(0, MOST_NEWS),
      prices: withEvents(priced, prices, MOST_NEWS),
    };
    for (const [chain, atOnce] of moved) chainMoved(chain, atOnce);
  });
}

let hiddenTimer: ReturnType<typeof setTimeout> | null = null;

/** Disconnects a tab that stays hidden, and reconnects with its cursor when it is visible again. */
function followVisibility(): void {
  if (hiddenTimer !== null) clearTimeout(hiddenTimer);
  hiddenTimer = null;
  if (document.hidden) hiddenTimer = setTimeout(disconnect, HIDDEN_MS);
  else connect();
}

export function startStream(): void {
  document.addEventListener('visibilitychange', followVisibility);
  addEventListener('online', retryFailed);
  effect(() => {
    if (isPaused.value) disconnect();
    else connect();
  });
}
