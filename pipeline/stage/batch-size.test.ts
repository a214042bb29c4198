import { expect, it } from 'vitest';
import { createBatchSize, LARGEST_BATCH } from './batch-size.ts';

it('grows while batches are quick and shrinks when they are slow', () => {
  const size = createBatchSize();
  const first = size.limits().maxBlocks;
  size.took(first, 2);
  expect(size.limits().maxBlocks).toBe(first * 2);
  size.took(first * 2, 8);
  expect(size.limits().maxBlocks).toBe(first);
});

it('bounds its growth and shrinkage in one step, since one measurement may mislead', () => {
  const size = createBatchSize();
  const first = size.limits().maxBlocks;
  size.took(first, 0);
  expect(size.limits().maxBlocks).toBe(first * 8);
  size.took(first * 8, 600);
  expect(size.limits().maxBlocks).toBe(first * 2);
});

it('stays within its limits', () => {
  const size = createBatchSize({ maxBlocks: 100 });
  for (let round = 0; round < 20; round++) size.took(size.limits().maxBlocks, 0);
  expect(size.limits()).toEqual({ maxBlocks: 100, maxBytes: LARGEST_BATCH.maxBytes });
  for (let round = 0; round < 20; round++) size.took(size.limits().maxBlocks, 60);
  expect(size.limits().maxBlocks).toBe(1);
});

it('learns nothing from a batch that was small for lack of blocks', () => {
  const size = createBatchSize();
  const before = size.limits();
  size.took(1, 0.001);
  expect(size.limits()).toEqual(before);
});
