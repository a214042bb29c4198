import { totalmem } from 'node:os';
import { expect, it } from 'vitest';
import { memoryBytes } from './memory.ts';
import { bufferMiB } from './postgres/embedded/embedded.ts';

const GIB = 2 ** 30;

it('is at most the memory of the machine', () => {
  expect(memoryBytes()).toBeGreaterThan(0);
  expect(memoryBytes()).toBeLessThanOrEqual(totalmem());
});

it('gives the embedded Postgres a sixteenth, within bounds', () => {
  expect([1, 2, 4, 8, 16, 256].map((gib) => bufferMiB(gib * GIB))).toEqual([128, 128, 256, 512, 1024, 1024]);
});
