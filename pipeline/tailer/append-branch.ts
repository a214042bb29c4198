/** Appends the daemon's blocks after our tip, fetched in parallel, written in batches. */
import type { DaemonChain } from './daemon-chain.ts';
import { fetchOrdered } from './fetch-ordered.ts';
import { type FetchedBlock, follows } from './fetched-block.ts';
import type { LogEnd } from './log-end.ts';

export interface AppendLimits {
  /** Calls at the same time. */
  readonly parallelism: number;
  /** Most blocks of one call, and the bytes that they are expected to have at most. */
  readonly blocksACall: number;
  readonly bytesACall: number;
  /** Bytes of blocks requested and not yet in a batch. */
  readonly maxBytesInFlight: number;
  readonly batchRecords: number;
  readonly batchBytes: number;
  /** Age at which a batch is written although it is not full. */
  readonly batchMs: number;
}

export interface AppendBranch {
  readonly daemon: DaemonChain;
  readonly end: LogEnd;
  /** Height to go to. */
  readonly to: number;
  readonly limits: AppendLimits;
  readonly signal: AbortSignal;
  readonly appended: (newest: FetchedBlock, count: number) => void;
}

/**
 * Goes on until `to`, or until a block does not follow the one before it: then the daemon has changed its branch.
 * What was fetched before an error is written before the error is thrown. Returns the number of blocks appended.
 */
export async function appendBranch(options: AppendBranch): Promise<number> {
  const { daemon, end, to, limits, signal } = options;
  let batch: FetchedBlock[] = [];
  let bytes = 0;
  let begun = performance.now();
  let total = 0;

  async function flush(): Promise<void> {
    const newest = batch.at(-1);
    if (!newest) return;
    const count = batch.length;
    await end.append(batch);
    total += count;
    batch = [];
    bytes = 0;
    options.appended(newest, count);
  }

  const blocks = fetchOrdered({
    from: (end.tip()?.height ?? -1) + 1,
    to,
    fetch: daemon.blocks,
    sizeOf: (block) => block?.bytes.length ?? 0,
    parallelism: limits.parallelism,
    mostAtOnce: limits.blocksACall,
    bytesAtOnce: limits.bytesACall,
    maxBytes: limits.maxBytesInFlight,
    signal,
  });
  try {
    for await (const block of blocks) {
      if (!block || !follows(block, batch.at(-1) ?? end.tip())) break;
      if (batch.length === 0) begun = performance.now();
      batch.push(block);
      bytes += block.bytes.length;
      const full = batch.length >= limits.batchRecords || bytes >= limits.batchBytes;
      if (full || performance.now() - begun >= limits.batchMs) await flush();
    }
  } catch (error) {
    if (!signal.aborted && !end.broken()) await flush();
    throw error;
  }
  await flush();
  return total;
}
