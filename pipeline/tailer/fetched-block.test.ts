import { describe, expect, it } from 'vitest';
import { follows, readFetchedBlock } from './fetched-block.ts';

const HASH = 'a'.repeat(64);
const PREVIOUS = 'b'.repeat(64);
const good = { hash: HASH, height: 7, previousblockhash: PREVIOUS, time: 1_700_000_000, tx: [] };
const read = (value: unknown, height = 7): unknown => readFetchedBlock({ bytes: Buffer.from('bytes'), value }, height);

describe('readFetchedBlock', () => {
  it('returns the few members that the tailer needs, and the bytes unchanged', () => {
    expect(read({ ...good, more: 1 })).toEqual({
      height: 7,
      hash: HASH,
      previousHash: PREVIOUS,
      time: 1_700_000_000,
      bytes: Buffer.from('bytes'),
    });
    const { previousblockhash: _, ...genesis } = { ...good, height: 0 };
    expect(read(genesis, 0)).toMatchObject({ height: 0, previousHash: null });
  });

  it.each([
    ['another height', { ...good, height: 8 }],
    ['no hash', { ...good, hash: undefined }],
    ['a hash in capitals', { ...good, hash: 'A'.repeat(64) }],
    ['no previous hash above genesis', { ...good, previousblockhash: undefined }],
    ['a malformed previous hash', { ...good, previousblockhash: 'b' }],
    ['a time that is not an integer', { ...good, time: 1.5 }],
    ['a time before the epoch', { ...good, time: -1 }],
    ['no transactions, as with verbosity 0', { ...good, tx: undefined }],
    ['a text', 'deadbeef'],
    ['null', null],
  ])('refuses a result with %s', (_, value) => {
    expect(() => read(value)).toThrow(expect.objectContaining({ code: 'daemon_garbage' }));
  });
});

it('a block follows its parent, and only at the next height', () => {
  const block = { height: 7, hash: HASH, previousHash: PREVIOUS, time: 0, bytes: new Uint8Array() };
  expect(follows(block, { height: 6, hash: PREVIOUS })).toBe(true);
  expect(follows(block, { height: 5, hash: PREVIOUS })).toBe(false);
  expect(follows(block, { height: 6, hash: HASH })).toBe(false);
  expect(follows(block, null)).toBe(false);
  expect(follows({ ...block, height: 0, previousHash: null }, null)).toBe(true);
});
