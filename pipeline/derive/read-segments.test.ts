import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChain } from '../../test/generator/chain.ts';
import { blockRecord, type UnplacedRecord } from '../../test/laws/chain-records.ts';
import { createTestLog, type TestLog } from '../../test/laws/replay.ts';
import type { BatchBounds } from '../stage/batch-size.ts';
import { createSegmentReader } from './read-segments.ts';

const never = new AbortController().signal;
const chain = createChain({ seed: 1, addresses: 3, transactions: 2 });
const blocks = Array.from({ length: 10 }, () => blockRecord(chain.next()));
const rewind = (height: number): UnplacedRecord => {
  return { kind: 'rewind', height, hash: blocks[height]?.hash ?? '', fromHeight: 9 };
};

let log: TestLog;

beforeAll(async () => {
  log = await createTestLog();
  await log.append('plain', blocks);
  await log.append('bent', [...blocks.slice(0, 4), rewind(2), rewind(1), ...blocks.slice(2, 5)]);
});

afterAll(() => log.drop());

/** Lists each run as the heights of its blocks and each rewind as `back to …`. */
async function segments(name: string, limits: BatchBounds, from = 0): Promise<unknown[]> {
  const reader = createSegmentReader(log, name, from);
  const found: unknown[] = [];
  for (;;) {
    const segment = await reader.next(limits, never);
    if (!segment) return found;
    found.push(segment.kind === 'run' ? segment.records.map(({ height }) => height) : `back to ${segment.height}`);
  }
}

const wide = { maxBlocks: 100, maxBytes: 1 << 24 };

describe('segments', () => {
  it('contain as many blocks as the limit allows', async () => {
    expect(await segments('plain', { ...wide, maxBlocks: 4 })).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
      [8, 9],
    ]);
  });

  it('contain no more bytes than the limit, but at least one block', async () => {
    expect(await segments('plain', { ...wide, maxBytes: 1 })).toEqual(blocks.map(({ height }) => [height]));
    const size = (height: number) => (blocks[height] as { block: Uint8Array }).block.byteLength;
    const first = await segments('plain', { ...wide, maxBytes: size(0) + size(1) + size(2) });
    expect(first[0]).toEqual([0, 1, 2]);
  });

  it('are split at a rewind, which is a segment of its own', async () => {
    expect(await segments('bent', wide)).toEqual([[0, 1, 2, 3], 'back to 2', 'back to 1', [2, 3, 4]]);
    expect(await segments('bent', wide, 5)).toEqual(['back to 1', [2, 3, 4]]);
  });

  it('report the position of the next record at any time', async () => {
    const reader = createSegmentReader(log, 'bent', 0);
    const positions = [reader.position];
    while (await reader.next({ ...wide, maxBlocks: 3 }, never)) positions.push(reader.position);
    expect(positions).toEqual([0, 3, 4, 5, 6, 9]);
  });

  it('continue when the log grows', async () => {
    const growing = createChain({ seed: 2, addresses: 3, transactions: 1 });
    const reader = createSegmentReader(log, 'growing', 0);
    expect(await reader.next(wide, never)).toBeNull();
    await log.append('growing', [blockRecord(growing.next())]);
    expect(await reader.next(wide, never)).toMatchObject({ kind: 'run', records: [{ height: 0 }] });
    expect(await reader.next(wide, never)).toBeNull();
  });

  it('end with the signal', async () => {
    await expect(createSegmentReader(log, 'plain', 0).next(wide, AbortSignal.abort())).rejects.toThrow();
  });
});
