/** Reads the blocks partition in segments: a run of blocks, or one rewind, which is a batch of its own. */
import type { EventLog, LogRecord } from '../../infra/event-log/event-log.ts';
import { type PackedBlock, readBlocksRecord } from '../../schemas/log-codec.ts';
import type { ChainRewound } from '../../schemas/log-records.ts';
import type { BatchBounds } from '../stage/batch-size.ts';
import { createYield } from '../stage/yield-to-event-loop.ts';

export interface BlockRun {
  readonly kind: 'run';
  readonly records: readonly PackedBlock[];
}
export type Segment = BlockRun | ChainRewound;

export interface SegmentReader {
  /** Position of the next record. */
  readonly position: number;
  /** Returns null at the end of the log. Throws when `signal` aborts. */
  next(limits: BatchBounds, signal: AbortSignal): Promise<Segment | null>;
}

/** Payloads may be compressed, so one read fetches this fraction of a batch's bytes. */
const EXPECTED_COMPRESSION = 4;

export function createSegmentReader(log: EventLog, chain: string, position: number): SegmentReader {
  let queue: LogRecord[] = [];
  let readTo = position;
  let held: PackedBlock | ChainRewound | null = null;

  /** Returns null at the end of the log. */
  async function peek(limits: BatchBounds): Promise<PackedBlock | ChainRewound | null> {
    if (held) return held;
    if (queue.length === 0) {
      const maxBytes = Math.ceil(limits.maxBytes / EXPECTED_COMPRESSION);
      const records = await log.read('blocks', chain, readTo, { maxRecords: limits.maxBlocks, maxBytes });
      readTo += records.length;
      queue = [...records].reverse();
    }
    const record = queue.pop();
    held = record ? readBlocksRecord(record.payload) : null;
    return held;
  }

  return {
    get position() {
      return readTo - queue.length - (held ? 1 : 0);
    },
    async next(limits, signal) {
      const yieldToEventLoop = createYield(signal);
      const records: PackedBlock[] = [];
      let bytes = 0;
      for (let record = await peek(limits); record; record = await peek(limits)) {
        if (record.kind === 'rewind') {
          if (records.length > 0) break;
          held = null;
          return record;
        }
        if (records.length > 0 && bytes + record.unpackedBytes > limits.maxBytes) break;
        held = null;
        records.push(record);
        bytes += record.unpackedBytes;
        if (records.length === limits.maxBlocks) break;
        await yieldToEventLoop();
      }
      return records.length > 0 ? { kind: 'run', records } : null;
    },
  };
}
