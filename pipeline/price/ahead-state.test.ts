import { expect, it } from 'vitest';
import { createAheadState, mayRecompute, pauseMs } from './ahead-state.ts';

it('deferred work is reported as waiting even when its time comes before pauseMs is read', () => {
  const state = createAheadState();
  expect(pauseMs(state, 0)).toBe(0);
  state.againAt = 100;
  expect(mayRecompute(state, 60)).toBe(false);
  expect(pauseMs(state, 70)).toBe(30);
  expect(pauseMs(state, 100)).toBe(1);
  expect(pauseMs(state, 10_000)).toBe(1);
  expect(mayRecompute(state, 10_000)).toBe(true);
  expect(pauseMs(state, 10_000)).toBe(0);
});

it('rows that were cut are recomputed at once', () => {
  const state = { ...createAheadState(), againAt: 100, isCut: true };
  expect(mayRecompute(state, 60)).toBe(true);
  expect(pauseMs(state, 60)).toBe(0);
});
