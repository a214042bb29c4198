/**
 * Reads the published prices beyond the complete ticks from topic `stamps`: Postgres keeps only the current ones, but after an undo or a
 * correction the earlier ones are valid again.
 */
import { LogGap } from '../../infra/event-log/log-errors.ts';
import { READ_LIMITS, type TopicReader } from '../../infra/event-log/topic-reader.ts';
import { createPace } from '../../infra/pace.ts';
import type { PriceChange } from '../../schemas/log-records.ts';

/** The records of a chain that may be about provisional blocks, in one state of the stores. */
export interface ProvisionalSpan {
  readonly chain: string;
  /** Position before the first one. */
  readonly after: number;
  /** Position of the last one. */
  readonly through: number;
}

export interface ProvisionalPrice {
  readonly chain: string;
  readonly height: number;
  readonly time: number;
  readonly provisional: boolean;
  readonly price: PriceChange;
}

/** Most records of all spans together: while a chain stands still, their number grows without limit. */
const MOST_RECORDS = 5_000;
const MOST_ROWS = 4_000;
/** Bytes of payloads, which the embedded log returns unpacked. */
const MOST_BYTES = 64 * 1024 * 1024;

interface Block {
  readonly time: number;
  readonly provisional: boolean;
  readonly prices: readonly PriceChange[];
}

/** Returns the prices that hold at the end of the spans, by chain, the lowest first; null if the records are too many or no longer kept. */
export async function readProvisionalPrices(
  topics: Pick<TopicReader, 'read'>,
  spans: readonly ProvisionalSpan[],
): Promise<readonly ProvisionalPrice[] | null> {
  const records = spans.reduce((sum, { after, through }) => sum + through - after, 0);
  if (records > MOST_RECORDS) return null;
  const pace = createPace({ sliceMs: 10, restMs: 0 });
  const found: ProvisionalPrice[] = [];
  let bytes = 0;
  for (const { chain, after, through } of spans) {
    const blocks = new Map<number, Block>();
    for (let next = after + 1; next <= through; ) {
      const limits = { ...READ_LIMITS, maxRecords: Math.min(READ_LIMITS.maxRecords, through - next + 1) };
      const entries = await topics.read('stamps', chain, next, limits).catch((error: unknown) => {
        if (error instanceof LogGap) return null;
        throw error;
      });
      if (!entries) return null;
      if (entries.length === 0) throw new TypeError(`topic stamps of ${chain} ends before the published ${through}`);
      for (const entry of entries) {
        bytes += entry.bytes;
        if (bytes > MOST_BYTES) return null;
        if (pace.isSpent()) await pace.rest();
        const record = entry.record();
        const { height } = record;
        if (record.kind === 'rewind') for (const of of blocks.keys()) if (of > height) blocks.delete(of);
        if (record.kind === 'stamps') blocks.set(height, record);
        // Corrections of complete blocks may be among the records.
        if (record.kind === 'correction' && blocks.has(height))
          blocks.set(height, { time: record.time, provisional: record.provisional, prices: record.now.prices });
        next = entry.position + 1;
      }
    }
    for (const [height, { time, provisional, prices }] of [...blocks].sort(([a], [b]) => a - b))
      found.push(...prices.map((price) => ({ chain, height, time, provisional, price })));
    if (found.length > MOST_ROWS) return null;
  }
  return found;
}
