import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const LONGEST = 400;
const MOST = 100;

it('no file is longer than 400 lines, and most are under 100', async () => {
  const lengths = (await sourceFiles()).map(({ path, text }) => ({ path, lines: text.split('\n').length }));
  expect(lengths.filter(({ lines }) => lines > LONGEST)).toEqual([]);
  expect(lengths.filter(({ lines }) => lines <= MOST).length).toBeGreaterThan(lengths.length / 2);
});

it('each part of the soak names test files', async () => {
  const tests = (await sourceFiles()).map(({ path }) => path).filter((path) => path.endsWith('.test.ts'));
  const soak = (await sourceFiles()).find(({ path }) => path === 'test/soak.ts')?.text ?? '';
  const named = [...soak.matchAll(/files: '([^']+)'/g)].map(([, files = '']) => files);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((files) => !tests.some((path) => path.includes(files)))).toEqual([]);
});
