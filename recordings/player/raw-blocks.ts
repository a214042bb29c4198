/** Serialised blocks as hex: `getblock hash 0`. */
import { join } from 'node:path';
import { createTextsByKey } from './packed-texts.ts';
import { readLines } from './read-lines.ts';
import type { Recording } from './recording.ts';

export type RawBlock = (hash: string) => string;

/** Raw blocks by hash, read on first use. */
export function createRawBlocks({ folder }: Recording): RawBlock {
  const blockOf = createTextsByKey(function* () {
    for (const file of ['blocks-raw.jsonl.gz', 'orphans.jsonl.gz']) {
      for (const line of readLines(join(folder, file))) {
        const { hash, hex } = JSON.parse(line.toString('utf8')) as { hash: string; hex: string };
        yield [hash, hex];
      }
    }
  });
  return (hash) => {
    const block = blockOf(hash);
    if (block === undefined) throw new Error(`the recording has no raw block ${hash}`);
    return block;
  };
}

/** The header's fixed 140 bytes, followed by the solution's length and the solution. */
export function headerHex(block: string): string {
  const FIXED = 280;
  const byte = (at: number) => Number.parseInt(block.slice(at, at + 2), 16);
  const wide = byte(FIXED) === 0xfd;
  const size = wide ? byte(FIXED + 2) + byte(FIXED + 4) * 256 : byte(FIXED);
  return block.slice(0, FIXED + (wide ? 6 : 2) + 2 * size);
}
