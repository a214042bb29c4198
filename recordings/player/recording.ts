/**
 * A recorded chain: the main branch up to its tip and, if there was a reorganisation, the branch that it abandoned. Kept as texts, not
 * objects.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ownText } from '../../domain/own-text.ts';
import { readPairs } from './members.ts';
import { createPackedTexts, type PackedTexts } from './packed-texts.ts';
import { readGzip, readLines } from './read-lines.ts';

export type RecordedBranch = 'main' | 'orphan';

export interface RecordedBlock {
  readonly height: number;
  readonly hash: string;
  readonly branch: RecordedBranch;
  readonly txids: readonly string[];
  /** `getblock hash 2` at the recorded tip. */
  block(): string;
  /** `getblockheader hash` at the recorded tip. */
  header(): string;
}

export interface Recording {
  readonly folder: string;
  /** By height. */
  readonly main: readonly RecordedBlock[];
  /** The first orphan is at fork + 1; empty when no branch was abandoned. */
  readonly orphans: readonly RecordedBlock[];
  readonly byHash: ReadonlyMap<string, RecordedBlock>;
  /** Height of the newest block that both branches share; the tip when there is only one branch. */
  readonly fork: number;
  /** Height of the newest block of the main branch. */
  readonly tip: number;
  /** Height of the main branch when it took over; lower than the abandoned tip, because chain power decides and not length. */
  readonly takeover: number;
}

/** Only a transaction has these two members next to each other; inputs have txid and vout. */
const TRANSACTION = /\{"txid":"([0-9a-f]{64})","overwintered":/g;

/** Defined at module level, because a closure inside readBlock would keep the texts of that scope in memory. */
const reader = (texts: PackedTexts, id: number) => () => texts.get(id);

function readBlock(line: Buffer, branch: RecordedBranch, texts: PackedTexts): RecordedBlock {
  const text = line.toString('utf8');
  const parts = new Map(readPairs(text));
  const part = (key: string): string => {
    const value = parts.get(key);
    if (value === undefined) throw new Error(`a line of the ${branch} branch has no ${key}`);
    return value;
  };
  const block = part('block');
  return {
    height: Number(part('height')),
    hash: String(JSON.parse(part('hash'))),
    branch,
    txids: Array.from(block.matchAll(TRANSACTION), ([, txid = '']) => ownText(txid)),
    block: reader(texts, texts.add(Buffer.from(block))),
    header: reader(texts, texts.add(Buffer.from(part('header')))),
  };
}

function takeoverHeight(folder: string, main: readonly RecordedBlock[]): number {
  const reorg = JSON.parse(readGzip(join(folder, 'truth', 'reorg.json.gz'))) as {
    branch_first_mined: { hashes: readonly string[] };
  };
  const last = reorg.branch_first_mined.hashes.at(-1);
  const block = main.find(({ hash }) => hash === last);
  if (block === undefined) throw new Error(`truth/reorg: block ${last} is not on the main branch`);
  return block.height;
}

export function loadRecording(folder: string): Recording {
  const texts = createPackedTexts();
  const read = (file: string, branch: RecordedBranch) =>
    Array.from(readLines(join(folder, file)), (line) => readBlock(line, branch, texts));
  const main = read('blocks.jsonl.gz', 'main');
  const orphans = existsSync(join(folder, 'orphans.jsonl.gz')) ? read('orphans.jsonl.gz', 'orphan') : [];
  return {
    folder,
    main,
    orphans,
    byHash: new Map([...main, ...orphans].map((block) => [block.hash, block])),
    fork: (orphans[0]?.height ?? main.length) - 1,
    tip: main.length - 1,
    takeover: orphans.length === 0 ? 0 : takeoverHeight(folder, main),
  };
}
