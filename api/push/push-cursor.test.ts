import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CursorInvalid, decodePlaces, encodePlaces, feedKey, readCursor } from './cursor.ts';

const place = fc.record({ position: fc.maxSafeNat(), index: fc.nat(100_000) });
const chain = fc.string({ minLength: 1, maxLength: 20 });
const places = fc.uniqueArray(fc.tuple(chain, place), { selector: ([name]) => name, minLength: 1, maxLength: 8 });

describe('a cursor of the push stream', () => {
  it('survives a round trip, and is safe in a URL', () => {
    fc.assert(
      fc.property(places, (entries) => {
        const text = encodePlaces(new Map(entries));
        expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
        expect([...decodePlaces(text)]).toEqual(entries);
      }),
    );
  });

  it('fits into the reason of a close for the four main chains at real heights', () => {
    const at = { position: 60_000_000, index: 3000 };
    const four = new Map(['vrsc', 'varrr', 'vdex', 'chips'].map((name) => [name, at]));
    expect(encodePlaces(four).length).toBeLessThanOrEqual(123);
  });

  it.each([1, 40, 150])('is read for %i chains, however long their names and large their places', (chains) => {
    const names = Array.from({ length: chains }, (_, number) => `c${number}-`.padEnd(32, 'x'));
    const at = { position: Number.MAX_SAFE_INTEGER, index: Number.MAX_SAFE_INTEGER };
    const all = new Map(
      names.flatMap((name) => [feedKey('facts', name), feedKey('stamps', name)]).map((key) => [key, at]),
    );
    expect(readCursor(encodePlaces(all), chains)).toEqual(all);
    const longer = new Map(Array.from({ length: 20 * chains + 200 }, (_, number) => [`other-${number}`, at]));
    expect(() => readCursor(encodePlaces(longer), chains)).toThrow(CursorInvalid);
  });

  it('is refused in any other form, and never with another error', () => {
    const altered = places.chain((entries) => {
      const bytes = Buffer.from(encodePlaces(new Map(entries)), 'base64url');
      return fc.nat(bytes.length - 1).map((cut) => bytes.subarray(0, cut).toString('base64url'));
    });
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), altered), (text) => {
        try {
          const read = decodePlaces(text);
          expect(encodePlaces(read)).toBe(text);
        } catch (error) {
          expect(error).toBeInstanceOf(CursorInvalid);
        }
      }),
    );
  });
});
