import type { Row } from '@clickhouse/client';
import { expect, it } from 'vitest';
import type { StoredRow } from '../row-reader.ts';
import { readBounded } from './bounded-rows.ts';

const [MOST, ROWS] = [100, 1000];
const row = { text: '{"n":1}', json: () => ({ n: 1 }) } as unknown as Row<StoredRow>;

/** Yields pieces of one row each; calls `before` with the number of each piece. */
async function* pieces(before: (piece: number) => void, ended: () => void) {
  for (let piece = 1; piece <= ROWS; piece++) {
    before(piece);
    yield [row];
  }
  ended();
}

it('after an abort, an answer is read to its end, so that the statement ends, and its rows are not kept', async () => {
  const [ending, late] = [new AbortController(), new AbortController()];
  let hasEnded = false;
  const before = (piece: number) => piece === 3 && ending.abort(new Error('gone'));
  const answer = pieces(before, () => {
    hasEnded = true;
  });
  const signals = { signal: ending.signal, late: late.signal };
  await expect(readBounded(answer, MOST, signals)).rejects.toThrow('gone');
  expect(hasEnded).toBe(true);
});

it('reading stops when the time limit of the statement has passed', async () => {
  const over = new AbortController();
  let read = 0;
  const before = (piece: number) => {
    read = piece;
    if (piece === 3) over.abort(new Error('late'));
  };
  const signals = { signal: over.signal, late: over.signal };
  await expect(
    readBounded(
      pieces(before, () => undefined),
      MOST,
      signals,
    ),
  ).rejects.toThrow('late');
  expect(read).toBe(3);
});
