/** A block as it came from the daemon: the bytes for the log, and the few members that the tailer itself reads. */

import type { BlockRef } from '../../domain/block-ref.ts';
import { isHash } from '../../domain/hashes.ts';
import { DaemonGarbage } from '../../infra/verusd/daemon-errors.ts';
import type { RawResult } from '../../infra/verusd/verusd-client.ts';

export interface Tip extends BlockRef {
  /** Block time, seconds since the epoch. */
  readonly time: number;
}

export interface FetchedBlock extends Tip {
  /** Null for the genesis block. */
  readonly previousHash: string | null;
  readonly bytes: Uint8Array;
}

/** @throws DaemonGarbage when the result is not the verbose block of this height */
export function readFetchedBlock({ bytes, value }: RawResult, height: number): FetchedBlock {
  const block = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  const { hash, time, previousblockhash: previousHash = null } = block;
  if (block.height !== height) throw garbage(height, `its height is ${String(block.height)}`);
  if (!isHash(hash)) throw garbage(height, 'its hash is missing or malformed');
  if (previousHash === null ? height > 0 : !isHash(previousHash))
    throw garbage(height, 'its previous hash is missing or malformed');
  if (typeof time !== 'number' || !Number.isSafeInteger(time) || time < 0)
    throw garbage(height, 'its time is missing or malformed');
  if (!Array.isArray(block.tx)) throw garbage(height, 'it has no transactions');
  return { height, hash, previousHash: previousHash as string | null, time, bytes };
}

/** Whether `block` directly follows `tip`; without a tip, genesis follows. */
export function follows(block: FetchedBlock, tip: BlockRef | null): boolean {
  return tip ? block.height === tip.height + 1 && block.previousHash === tip.hash : block.height === 0;
}

function garbage(height: number, why: string): DaemonGarbage {
  return new DaemonGarbage(`the daemon's answer for block ${height} is not its verbose block: ${why}`);
}
