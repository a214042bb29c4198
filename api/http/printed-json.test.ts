/** A large answer is printed with turns for others in between. */
import { expect, it } from 'vitest';
import { printedJson, withTextNumbers } from './printed-json.ts';

/** Turns of the event loop that others had meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  return turns;
}

it.each([false, true])('rows of an answer, numbers as text: %s', async (isText) => {
  const rows = Array.from({ length: 200_000 }, (_, height) => ({ height, hash: 'a', amount: 1n }));
  const amount = isText ? '"1"' : '1';
  expect(
    await turnsDuring(async () => {
      const text = (await printedJson({ results: rows }, isText)).toString();
      expect(text.endsWith(`"hash":"a","amount":${amount}}]}\n`)).toBe(true);
    }),
  ).toBeGreaterThan(3);
});

it('numbers of what a daemon has printed', async () => {
  const json = Buffer.from(`[${'1,'.repeat(6_000_000)}1]`);
  expect(
    await turnsDuring(async () => {
      const text = await withTextNumbers(json);
      expect(text.byteLength).toBe(json.byteLength + 2 * 6_000_001);
    }),
  ).toBeGreaterThan(3);
});
