/** A block from the daemon: the bytes for the log, and the few members that the tailer itself reads. */

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

/** Members of a verbose block that readFetchedBlock reads; of `tx` it only checks that it is an array. */
export const READ_MEMBERS = ['height', 'hash', 'time', 'previousblockhash', 'tx'] as const;

/** `asked` is the requested height or hash. @throws DaemonGarbage when the result is not the requested verbose block */
export function readFetchedBlock({ bytes, value }: RawResult, asked: number | string): FetchedBlock {
  const block = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  const { height, hash, time, previousblockhash: previousHash = null } = block;
  if (typeof asked === 'number' && height !== asked) throw garbage(asked, `its height is ${String(height)}`);
  if (typeof asked === 'string' && hash !== asked) throw garbage(asked, `its hash is ${String(hash)}`);
  if (!isHash(hash)) throw garbage(asked, 'its hash is missing or malformed');
  if (!isNatural(height)) throw garbage(asked, 'its height is missing or malformed');
  if (previousHash === null ? height > 0 : !isHash(previousHash))
    throw garbage(asked, 'its previous hash is missing or malformed');
  if (!isNatural(time)) throw garbage(asked, 'its time is missing or malformed');
  if (!Array.isArray(block.tx)) throw garbage(asked, 'it has no transactions');
  return { height, hash, previousHash: previousHash as string | null, time, bytes };
}

function isNatural(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Returns whether `block` directly follows `tip`; without a tip, only genesis follows. */
export function follows(block: FetchedBlock, tip: BlockRef | null): boolean {
  return tip ? block.height === tip.height + 1 && block.previousHash === tip.hash : block.height === 0;
}

function garbage(asked: number | string, why: string): DaemonGarbage {
  return new DaemonGarbage(`the daemon's answer for block ${asked} is not its verbose block: ${why}`);
}
