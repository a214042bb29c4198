/** The only reader of a topic of a chain. Reads up to the commit in Postgres and caches the newest records for all clients. */

import { READ_LIMITS, type TopicReader } from '../../infra/event-log/topic-reader.ts';
import type { Logger } from '../../infra/logger.ts';
import { createPace, type Pace } from '../../infra/pace.ts';
import { pause, repeatUntil } from '../../infra/repeat-until.ts';
import { createWakeUp } from '../../infra/wake-up.ts';
import { RetryableError } from '../../schemas/errors.ts';
import type { ServiceState } from '../state/service-state.ts';
import type { StateWatch } from '../state/state-watch.ts';
import type { ChainChange } from './chain-change.ts';
import type { FeedKey, FeedTopicName } from './cursor.ts';
import type { ChainTip, FeedTopic, TopicRecord } from './feed-topic.ts';
import { KEPT, READ_AT_ONCE } from './limits.ts';
import type { PushEvent } from './push-event.ts';
import { createRecordCache } from './record-cache.ts';

export interface FeedRecord {
  readonly position: number;
  readonly change: ChainChange;
  readonly events: readonly PushEvent[];
  /** Bytes of the record in the log. */
  readonly bytes: number;
}

export interface ChainFeed {
  readonly chain: string;
  /** Unique among the feeds of all chains and topics. */
  readonly key: FeedKey;
  /** Position after the newest record that may be shown. */
  readonly head: number;
  /** Null before the first block, and for a topic without a tip. */
  readonly tip: ChainTip | null;
  /** Returns a record if it is cached. */
  recent(position: number): FeedRecord | undefined;
  /** Reads records below `head` from the log, starting at a position, and decodes them at this pace. @throws LogGap if they are gone */
  load(position: number, pace: Pace): Promise<FeedRecord[]>;
  /** Position after the last record of the topic, committed or not. */
  end(): Promise<number>;
  /** Position after the newest record that may be shown in this state. */
  headIn(state: ServiceState): Promise<number>;
  /** Call it when the first client connects: that client receives everything committed from then on. */
  join(): void;
}

export interface FeedOptions<T extends FeedTopicName> {
  readonly chain: string;
  readonly topic: FeedTopic<T>;
  readonly topics: TopicReader;
  readonly watch: StateWatch;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Whether any client is connected. */
  readonly isWanted: () => boolean;
  /** Called with each record that may be shown from now on, in order. */
  readonly onRecord: (feed: ChainFeed, record: FeedRecord) => void;
  /** Called when the head has moved past records without showing them; `from` is where it was. */
  readonly onSkip: (feed: ChainFeed, from: number) => void;
  /** Milliseconds between two checks of the watched state while no client is connected. */
  readonly idleMs?: number;
}

const WAIT_MS = 5_000;
const RETRY_MS = 1_000;
/** Without clients the head follows the watch's notifications; this poll finds moves that the watch did not report. */
const IDLE_MS = 5_000;
/** Shortest interval between two look-ups of the topic's end, however many callers ask for it. */
const END_MS = 100;
/** How long a feed waits at its start for a topic that a broker does not know yet; a topic that was lost stays empty. */
const UNKNOWN_MS = 10_000;
const UNKNOWN_POLL_MS = 200;
/** Clients get a single block at once, but thousands of blocks only with other work in between. */
const FOLLOW_SLICE_MS = 10;

/** `running` settles once the signal aborts. */
export async function openChainFeed<T extends FeedTopicName>(
  options: FeedOptions<T>,
): Promise<{ feed: ChainFeed; running: Promise<void> }> {
  const { chain, topic, topics, watch, logger, signal, idleMs = IDLE_MS } = options;
  const kept = createRecordCache<number, FeedRecord>(KEPT);
  const pace = createPace({ sliceMs: FOLLOW_SLICE_MS, restMs: 0 });
  let at = topic.place(watch.state);
  let tip = topic.tip(watch.state);
  let head = await firstHead(options);
  let ending: Promise<number> | null = null;
  /** State in which the first client connected; null once the head has moved there. */
  let joinedIn: ServiceState | null = null;
  const moved = createWakeUp();
  const unfollow = watch.onMove(() => moved.wakeAll());

  async function readEnd(): Promise<number> {
    ending = null; // callers from now on wait for a later look-up
    return ((await topics.last(topic.name, chain))?.position ?? -1) + 1;
  }

  const feed: ChainFeed = {
    chain,
    key: topic.key,
    get head() {
      return head;
    },
    get tip() {
      return tip;
    },
    recent: (position) => kept.get(position),
    async load(position, readersPace) {
      const found: FeedRecord[] = [];
      for (const raw of await topics.read(topic.name, chain, position, READ_AT_ONCE)) {
        if (raw.position >= head) break;
        if (readersPace.isSpent()) await readersPace.rest();
        const { position: at, change, events } = topic.read(raw);
        found.push({ position: at, change, events, bytes: raw.bytes });
      }
      return found;
    },
    headIn: (state) => topic.head(state),
    end() {
      ending ??= pause(END_MS, signal).then(readEnd);
      return ending;
    },
    join() {
      joinedIn = watch.state;
      moved.wakeAll();
    },
  };

  function publish(read: TopicRecord, bytes: number): void {
    const { position, change, events } = read;
    const record: FeedRecord = { position, change, events, bytes };
    head = record.position + 1;
    tip = read.tip;
    kept.set(record.position, record);
    options.onRecord(feed, record);
  }

  /** Moves the head to its position in this state, past records that no client needs. */
  async function moveTo(state: ServiceState): Promise<void> {
    if (topic.place(state) === at) return;
    const next = await topic.head(state);
    at = topic.place(state);
    const from = head;
    if (next <= from) return; // records published since are not sent again
    kept.clear();
    head = next;
    tip = topic.tip(state);
    options.onSkip(feed, from);
  }

  /** Without clients, only the head is kept current, so that a replay of years encodes no unused events. */
  async function skip(): Promise<void> {
    // A move during the last check woke nothing, because nothing slept.
    if (topic.place(watch.state) === at) await moved.sleep(idleMs, signal);
    if (!signal.aborted && !options.isWanted()) await moveTo(watch.state);
  }

  async function follow(): Promise<void> {
    if (!options.isWanted()) return skip();
    const joined = joinedIn;
    if (joined) await moveTo(joined);
    if (joinedIn === joined) joinedIn = null; // another first client may have joined meanwhile
    await topics.waitFor(topic.name, chain, head, WAIT_MS, signal);
    if (signal.aborted) return;
    for (const raw of await topics.read(topic.name, chain, head, READ_LIMITS)) {
      if (pace.isSpent()) await pace.rest();
      const record = topic.read(raw);
      await watch.until(record.isShown, signal);
      if (signal.aborted || joinedIn) return; // a first client starts in the state in which it joined
      publish(record, raw.bytes);
    }
  }

  const running = repeatUntil(signal, follow, {
    retryMs: RETRY_MS,
    onError(err) {
      const passes = err instanceof RetryableError; // for example, an unreachable log
      logger[passes ? 'warn' : 'error'](
        { err, chain, topic: topic.name, position: head },
        'a topic of this chain cannot be read; trying again',
      );
    },
  }).finally(unfollow);
  return { feed, running };
}

/** From the start of the topic, clients would get all of history as new events, so an empty topic of a chain with blocks is read again. */
async function firstHead<T extends FeedTopicName>({ topic, watch, signal }: FeedOptions<T>): Promise<number> {
  const until = performance.now() + UNKNOWN_MS;
  for (;;) {
    const { state } = watch;
    const head = await topic.head(state);
    if (head > 0 || topic.tip(state) === null || signal.aborted || performance.now() >= until) return head;
    await pause(UNKNOWN_POLL_MS, signal);
  }
}
