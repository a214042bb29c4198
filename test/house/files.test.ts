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
  const files = await sourceFiles();
  const tests = files.map(({ path }) => path).filter((path) => path.endsWith('.test.ts'));
  const soak = files.find(({ path }) => path === 'test/soak.ts')?.text ?? '';
  const named = [...soak.matchAll(/files: '([^']+)'/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !tests.some((path) => path.includes(name)))).toEqual([]);
});
