import { expect, it } from 'vitest';
import { inTurns } from './in-turns.ts';

it('long work leaves others their turns, and makes what it would make at once', async () => {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const rows = Array.from({ length: 100 }, (_, at) => at);
  const busy = (row: number) => {
    for (const began = performance.now(); performance.now() - began < 1; );
    return row * 2;
  };
  const made = await Promise.all([inTurns(rows, busy), inTurns(rows, busy)]);
  isOver = true;
  expect(made).toEqual([rows.map((row) => row * 2), rows.map((row) => row * 2)]);
  expect(turns).toBeGreaterThan(10);
});
