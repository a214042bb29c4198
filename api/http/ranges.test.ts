import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ApiError } from './api-error.ts';
import { DECIMALS, NUMBERS, refuseEmptyRange, TIMES_BEFORE, wholeSteps } from './ranges.ts';

const RUNS = { numRuns: 500 };
/** Digits, places and exponents up to the limits of a written decimal. */
const digits = fc.bigInt({ min: 0n, max: 10n ** 38n - 1n });
const written = fc.record({ digits, places: fc.nat({ max: 37 }), exponent: fc.integer({ min: -99, max: 99 }) });

function textOf({ digits: all, places, exponent }: { digits: bigint; places: number; exponent: number }): string {
  const padded = String(all).padStart(places + 1, '0');
  const at = padded.length - places;
  return `${padded.slice(0, at)}${places > 0 ? `.${padded.slice(at)}` : ''}e${exponent}`;
}
/** The value in units so small that every such decimal is a whole number. */
const unitsOf = ({ digits: all, places, exponent }: { digits: bigint; places: number; exponent: number }) =>
  all * 10n ** BigInt(exponent - places + 140);

function refusal(work: () => void): string | null {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.details.errors?.[0]?.pointer}`;
    throw error;
  }
  return null;
}

it('decimals are compared by all their digits', () => {
  fc.assert(
    fc.property(written, written, (least, most) => {
      const refused = refusal(() => refuseEmptyRange(DECIMALS, ['minUsd', textOf(least)], ['maxUsd', textOf(most)]));
      expect(refused).toBe(unitsOf(least) > unitsOf(most) ? 'invalid_parameter /minUsd' : null);
    }),
    RUNS,
  );
});

it.each([
  ['both ends are included', () => refuseEmptyRange(NUMBERS, ['a', 5], ['b', 5]), null],
  ['reversed numbers', () => refuseEmptyRange(NUMBERS, ['a', 6], ['b', 5]), 'invalid_parameter /a'],
  ['without an end', () => refuseEmptyRange(NUMBERS, ['a', 6], ['b', undefined]), null],
  ['without a start', () => refuseEmptyRange(NUMBERS, ['a', undefined], ['b', 0]), null],
  ['the end is excluded', () => refuseEmptyRange(wholeSteps(60), ['a', 60], ['b', 60]), 'invalid_parameter /a'],
  ['the step before', () => refuseEmptyRange(wholeSteps(60), ['a', 60], ['b', 59]), 'invalid_parameter /a'],
  ['one second', () => refuseEmptyRange(wholeSteps(60), ['a', 60], ['b', 61]), null],
  ['a moment within a step', () => refuseEmptyRange(wholeSteps(60), ['a', 61], ['b', 61]), null],
  ['reversed within a step', () => refuseEmptyRange(wholeSteps(60), ['a', 119], ['b', 61]), null],
  ['times in two notations', () => refuseEmptyRange(TIMES_BEFORE, ['a', '1970-01-02'], ['b', '86401']), null],
  ['the same time', () => refuseEmptyRange(TIMES_BEFORE, ['a', '1970-01-02'], ['b', '86400']), 'invalid_parameter /a'],
  ['no date', () => refuseEmptyRange(TIMES_BEFORE, ['a', '2026-11-01'], ['b', '2026-13-01']), 'invalid_parameter /b'],
])('%s', (_, work, expected) => {
  expect(refusal(work)).toBe(expected);
});
