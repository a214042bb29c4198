import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type KeyedMap, overlayMap, pairKeyMap, singleKeyMap } from './keyed-map.ts';

interface Held {
  readonly first: string;
  readonly second: number;
  readonly value: number;
}

const change = fc.record({
  first: fc.constantFrom('a', 'b', 'c'),
  second: fc.nat(2),
  value: fc.option(fc.nat(9), { nil: null }),
});

function applyTo(
  map: KeyedMap<Held>,
  { first, second, value }: { first: string; second: number; value: number | null },
) {
  if (value === null) map.delete(first, second);
  else map.set({ first, second, value }, first, second);
}

const contents = (map: KeyedMap<Held>) =>
  [...map.values()].map(({ first, second, value }) => `${first}${second}=${value}`).sort();

it.each([
  ['one part', () => singleKeyMap<never>(), (held: Held): readonly [string] => [held.first]],
  ['two parts', () => pairKeyMap<never>(), (held: Held): readonly [string, number] => [held.first, held.second]],
] as const)(
  'an overlay on keys of %s reads as its base after the same changes, and leaves it as it was',
  (_, create, keyOf) => {
    fc.assert(
      fc.property(fc.array(change), fc.array(change), (before, after) => {
        const base: KeyedMap<Held> = create();
        const whole: KeyedMap<Held> = create();
        for (const made of before) for (const map of [base, whole]) applyTo(map, made);
        const untouched = contents(base);
        const overlay = overlayMap<Held>(base, create(), keyOf);
        for (const made of after) for (const map of [overlay, whole]) applyTo(map, made);
        expect(contents(overlay)).toEqual(contents(whole));
        for (const { first, second } of [...before, ...after]) {
          expect(overlay.get(first, second)).toEqual(whole.get(first, second));
        }
        expect(contents(base)).toEqual(untouched);
      }),
    );
  },
);

it('returns nothing for a key that was not set', () => {
  expect(pairKeyMap().get('a', 1)).toBeUndefined();
  expect(singleKeyMap().get('a')).toBeUndefined();
});
