import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import { PermanentError } from '../schemas/errors.ts';
import { LOG_OPTIONS } from './logger.ts';
import { type Closers, openTogether } from './open-together.ts';

const [first, second] = [new Error('the first'), new Error('the second')];
const coded = new PermanentError('clickhouse_unreachable', 'ClickHouse is away');

let calls: string[];
let logged: string[];
const logger = pino(LOG_OPTIONS, {
  write: (line: string) => void logged.push((JSON.parse(line) as { err: Error }).err.message),
});
beforeEach(() => {
  calls = [];
  logged = [];
});

/** Adds closers that throw these errors (the last runs first) between two that do not throw. */
function closing(closers: Closers, errors: readonly Error[]): void {
  closers.push(() => calls.push('a'));
  for (const error of errors) closers.push(() => Promise.reject(error));
  closers.push(() => calls.push('b'));
}

it.each([
  ['the error of one closer', [first], first, []],
  ['the first of several errors with a code', [first, coded, second], coded, ['the second', 'the first']],
  ['the first of several errors without a code', [first, second], second, ['the first']],
])('closes the rest and throws %s', async (_, errors, thrown, others) => {
  const opened = await openTogether(logger, async (closers) => {
    closing(closers, errors);
    return { name: 'x' };
  });
  await expect(opened.close()).rejects.toBe(thrown);
  expect([calls, logged]).toEqual([['b', 'a'], others]);
  await opened.close();
  expect([calls, logged]).toEqual([['b', 'a'], others]);
});

it.each([
  ['an error with a code', coded],
  ['any other', second],
])('throws what opening threw, %s, and logs what closing threw', async (_, thrown) => {
  const opening = openTogether<object>(logger, async (closers) => {
    closing(closers, [first]);
    throw thrown;
  });
  await expect(opening).rejects.toBe(thrown);
  expect([calls, logged]).toEqual([['b', 'a'], ['the first']]);
});
