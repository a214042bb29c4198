/** The end of a chain's `blocks` partition, with its only writer. */

import type { BlockRef } from '../../domain/block-ref.ts';
import type { EventLog, LogRecord, LogWriter } from '../../infra/event-log/event-log.ts';
import { LogUnreachable } from '../../infra/event-log/log-errors.ts';
import { encodeBlocksRecord } from '../../schemas/log-codec.ts';
import type { BlocksRecord } from '../../schemas/log-records.ts';
import { createYield } from '../stage/yield-to-event-loop.ts';
import { type FetchedBlock, follows, type Tip } from './fetched-block.ts';
import { highestSince, readBranch, readHashAt } from './read-branch.ts';
import { LogInconsistent } from './tailer-errors.ts';

export interface LogEnd {
  /** Returns null while the partition is empty. */
  tip(): Tip | null;
  /** Returns the highest height since the last accepted rewind below finality: blocks more than finalityDepth below it are final. */
  highest(): number;
  /** Returns the hash of our block at a height; null above the tip. */
  hashAt(height: number): Promise<string | null>;
  /** Appends blocks that follow the tip and each other. */
  append(blocks: readonly FetchedBlock[]): Promise<void>;
  /** Appends a rewind to `fork` and the first block of the new branch in one write. */
  switchBranch(fork: BlockRef, first: FetchedBlock): Promise<void>;
  /** Returns true after a failed write: the content of the log is then unknown, so it must be reopened and read again. */
  broken(): boolean;
  close(): Promise<void>;
}

/**
 * Becomes the partition's only writer and reads its end. Keeps the hashes of the `finalityDepth` blocks below the tip in memory.
 * @throws LogUnreachable when the log reads as empty although it is not
 */
export async function openLogEnd(log: EventLog, chain: string, finalityDepth: number): Promise<LogEnd> {
  const writer = await log.openWriter('blocks', chain);
  try {
    return await createLogEnd(log, chain, finalityDepth, writer);
  } catch (error) {
    await writer.close();
    throw error;
  }
}

async function createLogEnd(log: EventLog, chain: string, finalityDepth: number, writer: LogWriter): Promise<LogEnd> {
  const branch = await readBranch(log, chain, finalityDepth);
  // Otherwise the chain would begin again, at genesis, behind its own records.
  if (!branch && writer.next > 0) {
    throw new LogUnreachable(`the log of ${chain} has ${writer.next} records, of which the newest cannot be read yet`);
  }
  /** Above the tip it may contain hashes of a rewound branch, which are never read and are overwritten as the tip passes. */
  const hashes = branch?.hashes ?? new Map<number, string>();
  let tip: Tip | null = branch?.tip ?? null;
  let highest = branch?.highest ?? -1;
  let broken = false;

  /** The invariant of the whole log: every record follows from the ones before it. */
  function mustFollow(block: FetchedBlock, previous: BlockRef | null): void {
    if (follows(block, previous)) return;
    const stands = previous ? `${previous.height} ${previous.hash}` : 'nothing';
    throw new LogInconsistent(
      `block ${block.height} ${block.hash} of ${chain} names ${block.previousHash} as its parent, but the log ends at ${stands}`,
    );
  }

  async function write(records: readonly BlocksRecord[]): Promise<void> {
    const yieldToEventLoop = createYield();
    const encoded: LogRecord[] = [];
    for (const record of records) {
      encoded.push({ position: record.position, payload: encodeBlocksRecord(record, writer.packing) });
      await yieldToEventLoop();
    }
    try {
      await writer.append(encoded);
    } catch (error) {
      broken = true;
      throw error;
    }
  }

  function take(block: FetchedBlock): void {
    tip = { height: block.height, hash: block.hash, time: block.time };
    hashes.set(block.height, block.hash);
    hashes.delete(block.height - finalityDepth - 1);
    highest = Math.max(highest, block.height);
  }

  async function hashAt(height: number): Promise<string | null> {
    if (!tip || height > tip.height || height < 0) return null;
    return hashes.get(height) ?? readHashAt(log, chain, height);
  }

  return {
    tip: () => tip,
    highest: () => highest,
    hashAt,
    async append(blocks) {
      let previous = tip;
      for (const block of blocks) {
        mustFollow(block, previous);
        previous = block;
      }
      const start = writer.next;
      await write(blocks.map((block, index) => blockRecord(block, start + index)));
      for (const block of blocks) take(block);
    },
    async switchBranch(fork, first) {
      if (!tip || fork.height >= tip.height || (await hashAt(fork.height)) !== fork.hash) {
        throw new LogInconsistent(`the log of ${chain} holds no block ${fork.height} ${fork.hash} below its tip`);
      }
      mustFollow(first, fork);
      const position = writer.next;
      const rewind = {
        kind: 'rewind',
        position,
        height: fork.height,
        hash: fork.hash,
        fromHeight: tip.height,
      } as const;
      await write([rewind, blockRecord(first, position + 1)]);
      highest = highestSince(highest, rewind, finalityDepth);
      take(first);
    },
    broken: () => broken,
    close: () => writer.close(),
  };
}

function blockRecord({ height, hash, previousHash, time, bytes }: FetchedBlock, position: number): BlocksRecord {
  return { kind: 'block', position, height, hash, previousHash, time, block: bytes };
}
