import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const LONGEST = 400;
const MOST = 100;

it('no file is longer than 400 lines, and most are under 100', async () => {
  const lengths = (await sourceFiles()).map(({ path, text }) => ({ path, lines: text.split('\n').length }));
  expect(lengths.filter(({ lines }) => lines > LONGEST)).toEqual([]);
  expect(lengths.filter(({ lines }) => lines <= MOST).length).toBeGreaterThan(lengths.length / 2);
});
