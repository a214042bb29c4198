/** Appends the daemon's blocks after our tip: fetches them in parallel and writes them in batches. */
import type { DaemonChain } from './daemon-chain.ts';
import { fetchOrdered } from './fetch-ordered.ts';
import { type FetchedBlock, follows } from './fetched-block.ts';
import type { LogEnd } from './log-end.ts';

export interface AppendLimits {
  /** Calls in parallel. */
  readonly parallelism: number;
  /** Most blocks in one call. */
  readonly blocksACall: number;
  /** Most bytes that the blocks of one call are expected to have. */
  readonly bytesACall: number;
  /** Most bytes of blocks that are requested and not yet in a batch. */
  readonly maxBytesInFlight: number;
  readonly batchRecords: number;
  readonly batchBytes: number;
  /** Age at which a batch is written even if it is not full. */
  readonly batchMs: number;
}

export interface AppendBranch {
  readonly daemon: DaemonChain;
  readonly end: LogEnd;
  /** Height of the last block to append. */
  readonly to: number;
  readonly limits: AppendLimits;
  readonly signal: AbortSignal;
  readonly appended: (newest: FetchedBlock, count: number) => void;
}

/**
 * Continues until `to`, or until a block does not follow the previous one because the daemon has switched its branch.
 * After an error, writes the blocks fetched before it and then throws the error. Returns the number of appended blocks.
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
