/** The one reader of a chain's facts: what Postgres has committed, the newest of it in memory for all clients. */
import type { EventLog, LogRecord } from '../../infra/event-log/event-log.ts';
import type { Logger } from '../../infra/logger.ts';
import { decodeFactsRecord } from '../../schemas/log-codec.ts';
import type { FactsRecord } from '../../schemas/log-records.ts';
import type { StateWatch } from '../state/state-watch.ts';
import { eventsOfRecord } from './events-of-record.ts';
import type { PushEvent } from './push-event.ts';

export interface FeedRecord {
  readonly position: number;
  readonly events: readonly PushEvent[];
}

export interface Tip {
  readonly height: number;
  readonly hash: string;
}

export interface ChainFeed {
  readonly chain: string;
  /** Position after the newest record that may be shown. */
  readonly head: number;
  readonly tip: Tip | null;
  /** A record kept in memory. */
  recent(position: number): FeedRecord | undefined;
  /** Records from a position on, read from the log, below head; throws LogGap where they are no longer kept. */
  load(position: number): Promise<FeedRecord[]>;
  /** Position after the last record of the topic, committed or not. */
  end(): Promise<number>;
}

export interface FeedOptions {
  readonly chain: string;
  readonly log: EventLog;
  readonly watch: StateWatch;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Whether anybody listens. */
  readonly isWanted: () => boolean;
  /** Called with each record that may be shown from now on, in order. */
  readonly onRecord: (feed: ChainFeed, record: FeedRecord) => void;
}

const READ_LIMITS = { maxRecords: 200, maxBytes: 4 * 1024 * 1024 };
const WAIT_MS = 5_000;
const RETRY_MS = 1_000;
const IDLE_MS = 50;
const KEPT_RECORDS = 1024;

/** `running` settles once the signal aborts. */
export async function openChainFeed(options: FeedOptions): Promise<{ feed: ChainFeed; running: Promise<void> }> {
  const { chain, log, watch, logger, signal } = options;
  const kept = new Map<number, FeedRecord>();
  const committed = () => watch.state.derived.get(chain);
  const start = committed();
  let head = await headOf(log, chain, start?.position ?? -1);
  let tip: Tip | null = start ? { height: start.height, hash: start.hash } : null;

  const feed: ChainFeed = {
    chain,
    get head() {
      return head;
    },
    get tip() {
      return tip;
    },
    recent: (position) => kept.get(position),
    async load(position) {
      const records = await log.read('facts', chain, position, READ_LIMITS);
      return records.filter((record) => record.position < head).map((record) => read(chain, record).feedRecord);
    },
    end: async () => ((await log.last('facts', chain))?.position ?? -1) + 1,
  };

  function publish(record: FactsRecord, feedRecord: FeedRecord): void {
    head = record.position + 1;
    tip = { height: record.height, hash: record.hash };
    kept.set(record.position, feedRecord);
    kept.delete(record.position - KEPT_RECORDS);
    options.onRecord(feed, feedRecord);
  }

  /** Nobody listens: only the place is kept, so that a replay of years does not encode what no one hears. */
  async function skip(): Promise<void> {
    await pause(IDLE_MS, signal);
    const now = committed();
    if (signal.aborted || options.isWanted() || !now || (now.height === tip?.height && now.hash === tip.hash)) return;
    const next = await headOf(log, chain, now.position);
    if (options.isWanted()) return;
    kept.clear();
    head = next;
    tip = { height: now.height, hash: now.hash };
  }

  async function follow(): Promise<void> {
    if (!options.isWanted()) return skip();
    await log.waitFor('facts', chain, head, WAIT_MS, signal);
    if (signal.aborted) return;
    for (const raw of await log.read('facts', chain, head, READ_LIMITS)) {
      const { record, feedRecord } = read(chain, raw);
      await watch.until((state) => (state.derived.get(chain)?.position ?? -1) >= record.source, signal);
      if (signal.aborted) return;
      publish(record, feedRecord);
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await follow().catch(async (err: unknown) => {
        if (signal.aborted) return;
        logger.error({ err, chain, position: head }, 'the facts of this chain cannot be read; trying again');
        await pause(RETRY_MS, signal);
      });
    }
  }

  return { feed, running: run() };
}

function read(chain: string, { payload, position }: LogRecord): { record: FactsRecord; feedRecord: FeedRecord } {
  const record = decodeFactsRecord(payload);
  return { record, feedRecord: { position, events: eventsOfRecord(chain, record) } };
}

/** Position of the first record that follows from a block after `source`: what lies before it is committed. */
export async function headOf(log: EventLog, chain: string, source: number): Promise<number> {
  const last = await log.last('facts', chain);
  if (!last) return 0;
  if (sourceOf(last) <= source) return last.position + 1;
  // The topic is ahead by a batch at most: back in growing steps to a record that is committed, then forward to its end.
  let from = last.position;
  for (let step = 16; from > 0; step *= 2) {
    from = Math.max(0, from - step);
    const [record] = await log.read('facts', chain, from, { ...READ_LIMITS, maxRecords: 1 });
    if (!record || sourceOf(record) <= source) break;
  }
  for (;;) {
    const records = await log.read('facts', chain, from, READ_LIMITS);
    const first = records.find((record) => sourceOf(record) > source);
    if (first || records.length === 0) return first?.position ?? from;
    from += records.length;
  }
}

function sourceOf(record: LogRecord): number {
  return decodeFactsRecord(record.payload).source;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done, { once: true });
  });
}
