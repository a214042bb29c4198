import { beforeEach, expect, it } from 'vitest';
import { createStageProgress, type StageProgress } from './stage-progress.ts';

let clock: number;
let progress: StageProgress;

beforeEach(() => {
  clock = 0;
  progress = createStageProgress(() => clock);
});

it('estimates the time left from the rate of the last half minute', () => {
  progress.target(999);
  expect(progress.etaSeconds()).toBeNull();
  for (let second = 1; second <= 10; second += 1) {
    clock = second * 1000;
    progress.at(second * 10 - 1, 10, 0);
  }
  expect(progress.lag()).toBe(900);
  expect(progress.numbers().rate).toBe(10);
  expect(progress.etaSeconds()).toBe(90);
  clock += 60_000;
  expect(progress.etaSeconds()).toBeNull();
});

it('has nothing left at its target, and is never negative', () => {
  progress.target(5);
  progress.at(5, 0, null);
  expect(progress.etaSeconds()).toBe(0);
  progress.at(7, 0, null);
  expect(progress.lag()).toBe(0);
});

it('is near its target while at most five blocks are left', () => {
  progress.at(94, 0, null);
  progress.target(99);
  expect(progress.isNear()).toBe(true);
  progress.target(100);
  expect(progress.isNear()).toBe(false);
});

it('keeps the time of the newest block when the height moves without a block', () => {
  progress.at(1, 1, 1_700_000_000_000);
  progress.at(0, 0, null);
  expect(progress.numbers()).toMatchObject({ height: 0, movedAt: '2023-11-14T22:13:20.000Z' });
});
