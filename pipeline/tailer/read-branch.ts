/** Reads the tip of a chain's `blocks` partition and the hashes of the newest blocks below it. */
import type { EventLog } from '../../infra/event-log/event-log.ts';
import { readBlocksRecord } from '../../schemas/log-codec.ts';
import type { BlockAppended, ChainRewound } from '../../schemas/log-records.ts';
import type { Tip } from './fetched-block.ts';
import { LogInconsistent } from './tailer-errors.ts';

/** A record of `blocks` without its block. */
export type BranchRecord = Omit<BlockAppended, 'block'> | ChainRewound;

export interface Branch {
  readonly tip: Tip;
  /** Height → hash of the tip and the `depth` blocks below it (fewer near genesis). */
  readonly hashes: Map<number, string>;
  /** Highest height since the last rewind deeper than `depth`, which an operator accepted. */
  readonly highest: number;
}

const CHUNK = { maxRecords: 32, maxBytes: 32 << 20 };

/** Returns null when the partition is empty. @throws LogInconsistent when the newest blocks do not link */
export async function readBranch(log: EventLog, chain: string, depth: number): Promise<Branch | null> {
  const last = await log.last('blocks', chain);
  if (!last) return null;
  const hashes = new Map<number, string>();
  const newest = branchRecord(last.payload);
  let tip: Tip | null = null;
  const newestFirst: BranchRecord[] = [];
  let expected: string | null = newest.hash;
  for await (const record of readBackwards(log, chain, last.position)) {
    newestFirst.push(record);
    // Among several records at one height, the newest is on the branch; the others were rewound.
    if (record.kind === 'rewind' || record.height !== newest.height - hashes.size) continue;
    if (record.hash !== expected) {
      throw new LogInconsistent(
        `the log of ${chain} holds block ${record.height} ${record.hash} at position ${record.position} where its next block names ${expected}`,
      );
    }
    tip ??= { height: record.height, hash: record.hash, time: record.time };
    hashes.set(record.height, record.hash);
    expected = record.previousHash;
    if (hashes.size > depth || record.height === 0) {
      return { tip, hashes, highest: highestAfter(newestFirst.reverse(), depth) };
    }
  }
  throw new LogInconsistent(
    `the log of ${chain} ends at height ${newest.height} but its first record is above ${newest.height - hashes.size}`,
  );
}

/** Returns the highest height after these records, oldest first, as the tailer that wrote them computed it. */
function highestAfter(records: readonly BranchRecord[], depth: number): number {
  let highest = -1;
  for (const record of records) highest = highestSince(highest, record, depth);
  return highest;
}

/** Updates the highest height by one record. A rewind below finality was accepted, so finality restarts at its height. */
export function highestSince(highest: number, record: BranchRecord, depth: number): number {
  if (record.kind === 'block') return Math.max(highest, record.height);
  const before = Math.max(highest, record.fromHeight);
  return before - record.height > depth ? record.height : before;
}

/**
 * Returns the hash of the branch's block at any height up to the tip. Position minus height grows with each rewind and never falls, so
 * the guess `height + offset` approaches the block from above and reads one record for each rewind in between.
 */
export async function readHashAt(log: EventLog, chain: string, height: number): Promise<string | null> {
  const last = await log.last('blocks', chain);
  if (!last) return null;
  let record = branchRecord(last.payload);
  while (record.height > height) {
    const position: number = height + record.position - record.height;
    const [found] = await log.read('blocks', chain, position, { maxRecords: 1, maxBytes: 1 });
    if (!found) throw new LogInconsistent(`the log of ${chain} has no record at position ${position}`);
    record = branchRecord(found.payload);
  }
  return record.height === height ? record.hash : null;
}

async function* readBackwards(log: EventLog, chain: string, from: number): AsyncGenerator<BranchRecord, void> {
  for (let end = from + 1; end > 0; end -= CHUNK.maxRecords) {
    const start = Math.max(0, end - CHUNK.maxRecords);
    const records: BranchRecord[] = [];
    while (start + records.length < end) {
      const limits = { ...CHUNK, maxRecords: end - start - records.length };
      const part = await log.read('blocks', chain, start + records.length, limits);
      if (part.length === 0) throw new LogInconsistent(`the log of ${chain} ends before its last position ${from}`);
      records.push(...part.map(({ payload }) => branchRecord(payload)));
    }
    yield* records.reverse();
  }
}

function branchRecord(payload: Uint8Array): BranchRecord {
  const record = readBlocksRecord(payload);
  if (record.kind === 'rewind') return record;
  const { packed: _, unpackedBytes: __, ...rest } = record;
  return rest;
}
