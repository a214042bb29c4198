/** The bundled recording of a real daemon: blocks to derive from, and the daemon's own answers about them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { parseExact } from '../../../domain/json/exact-json.ts';
import type { ChainContext } from '../../../processors/state/chain-state.ts';
import type { DaemonBlock } from '../../../schemas/verusd/block.ts';
import { frozenOnce } from './frozen.ts';

export const RECORDED_CHAIN: ChainContext = {
  name: 'vrsc',
  nativeCurrencyId: 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq',
  networkRoot: 'VRSCTEST',
};

/** Text of a file of the recording, decompressed if its name ends in .gz. */
export function recordedText(file: string): string {
  const path = fileURLToPath(new URL(`../../../recordings/private-network/${file}`, import.meta.url));
  const bytes = readFileSync(path);
  return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}

/** A parsed file of the recording; the caller states its type. */
export function recordedTruth<T>(file: string): T {
  return parseExact(recordedText(file)) as T;
}

/** Rows of a file with one JSON text per line. */
export function recordedLines<T>(file: string): T[] {
  const lines = recordedText(file).split('\n');
  return lines.filter((line) => line !== '').map((line) => parseExact(line) as T);
}

/** The main chain from genesis, by height. */
export const recordedBlocks: () => readonly DaemonBlock[] = frozenOnce(() =>
  recordedLines<{ block: DaemonBlock }>('blocks.jsonl.gz').map(({ block }) => block),
);
