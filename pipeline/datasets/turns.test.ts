import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createTurns } from './turns.ts';

it('a signal ends the wait, but not work that has begun', async () => {
  const turn = createTurns(1);
  const first = Promise.withResolvers<string>();
  const [begun, waits] = [new AbortController(), new AbortController()];
  const running = turn(() => first.promise, begun.signal);
  const given = turn(async () => 'begun', waits.signal);
  const last = turn(async () => 'last', begun.signal);
  waits.abort(new Error('gone'));
  await expect(given).rejects.toThrow('gone');
  await expect(turn(async () => 'begun', waits.signal)).rejects.toThrow('gone');
  first.resolve('first');
  expect(await Promise.all([running, last])).toEqual(['first', 'last']);
  begun.abort();
  expect(await turn(async () => 'free')).toBe('free');
});

it('runs up to the limit at once, in order, also after failures', async () => {
  const turn = createTurns(2);
  const began: number[] = [];
  let [running, most] = [0, 0];
  const work = (number: number) =>
    turn(async () => {
      began.push(number);
      running += 1;
      most = Math.max(most, running);
      await nextTurn();
      running -= 1;
      if (number % 3 === 0) throw new Error(`failed ${number}`);
      return number;
    });
  const numbers = [1, 2, 3, 4, 5, 6, 7];
  const done = await Promise.allSettled(numbers.map(work));
  expect(began).toEqual(numbers);
  expect(most).toBe(2);
  expect(done.map(({ status }) => status === 'fulfilled')).toEqual(numbers.map((number) => number % 3 !== 0));
});
