import { expect, it } from 'vitest';
import { createAgingMap } from './aging-map.ts';

it('keeps entries used since the last turn until the next turn, and drops the others', () => {
  const map = createAgingMap<string, number>();
  map.set('used', 1);
  map.set('unused', 2);
  map.turn();
  expect(map.size).toBe(0);
  expect(map.get('used')).toBe(1);
  expect(map.size).toBe(1);
  map.turn();
  expect(map.get('unused')).toBeUndefined();
  expect(map.get('used')).toBe(1);
});

it('returns the newest value, and none after a delete, from either generation', () => {
  const map = createAgingMap<string, number>();
  map.set('a', 1);
  map.set('b', 1);
  map.turn();
  map.set('a', 2);
  expect(map.get('a')).toBe(2);
  map.delete('a');
  map.delete('b');
  expect(map.get('a')).toBeUndefined();
  expect(map.get('b')).toBeUndefined();
});

it('lists each key once, with its newest value', () => {
  const map = createAgingMap<string, number>();
  map.set('a', 1);
  map.set('b', 1);
  map.turn();
  map.set('a', 2);
  expect([...map.values()].sort()).toEqual([1, 2]);
});
