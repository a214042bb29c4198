/** Records of a blocks partition, made from the recording or from a made-up chain. */

import { rawMember } from '../../domain/json/raw-json.ts';
import type { BlockAppended, BlocksRecord, ChainRewound } from '../../schemas/log-records.ts';
import type { GeneratedBlock } from '../generator/block.ts';
import { recordedText } from '../support/processors/recorded-chain.ts';

export type UnplacedRecord = Omit<BlockAppended, 'position'> | Omit<ChainRewound, 'position'>;

export function placed(records: readonly UnplacedRecord[]): BlocksRecord[] {
  return records.map((record, position) => ({ ...record, position }));
}

export function blockRecord({ text, height, hash, previousHash, time }: GeneratedBlock): UnplacedRecord {
  return { kind: 'block', height, hash, previousHash, time, block: Buffer.from(text) };
}

export interface RecordedBranches {
  /** The winning chain, from genesis. */
  readonly main: readonly UnplacedRecord[];
  /** The losing branch, from the block after the fork. */
  readonly orphans: readonly UnplacedRecord[];
  /** Height of the last block that both have. */
  readonly fork: number;
}

export function recordedBranches(): RecordedBranches {
  const main = recordedFile('blocks.jsonl.gz');
  const orphans = recordedFile('orphans.jsonl.gz');
  return { main, orphans, fork: (orphans[0]?.height ?? 0) - 1 };
}

/** A record that rewinds the chain from `fromHeight` to the block at `height` of `main`. */
export function rewindRecord(main: readonly UnplacedRecord[], height: number, fromHeight: number): UnplacedRecord {
  const stays = main[height];
  if (!stays) throw new RangeError(`no block ${height}`);
  return { kind: 'rewind', height, hash: stays.hash, fromHeight };
}

/** A chain that rewinds at some heights and then repeats the same blocks. */
export function wanderings(
  main: readonly UnplacedRecord[],
  turns: readonly { readonly at: number; readonly back: number }[],
): UnplacedRecord[] {
  const happened: UnplacedRecord[] = [];
  let next = 0;
  for (const { at, back } of [...turns].sort((a, b) => a.at - b.at)) {
    happened.push(...main.slice(next, at + 1), rewindRecord(main, at - back, at));
    next = at - back + 1;
  }
  return [...happened, ...main.slice(next)];
}

/** The records as they happened: the losing branch first. */
export function withReorganisation({ main, orphans, fork }: RecordedBranches): UnplacedRecord[] {
  const rewind = rewindRecord(main, fork, fork + orphans.length);
  return [...main.slice(0, fork + 1), ...orphans, rewind, ...main.slice(fork + 1)];
}

/** Records of a file of the recording, in order of height. */
export function recordedFile(file: string): UnplacedRecord[] {
  const lines = recordedText(file).split('\n');
  return lines.filter((line) => line !== '').map(recordedBlock);
}

function recordedBlock(line: string): UnplacedRecord {
  const text = rawMember(line, 'block');
  if (text === undefined) throw new TypeError('a line of the recording holds no block');
  const { height, hash, previousblockhash, time } = JSON.parse(text) as {
    height: number;
    hash: string;
    previousblockhash?: string;
    time: number;
  };
  return { kind: 'block', height, hash, previousHash: previousblockhash ?? null, time, block: Buffer.from(text) };
}
