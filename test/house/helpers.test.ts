import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const PRODUCTION = /^(api|client|commands|domain|infra|pipeline|processors|recordings|schemas)\/|^[^/]+\.ts$/;
const IS_TEST = /\.test\.ts$|^vitest\.config\.ts$/;
const IMPORTS_TEST = /(?:from|import)\s*\(?\s*'(?:\.\.?\/)+test\//;

it('shared test code is in test/support, and shipped code does not import it', async () => {
  const shipped = (await sourceFiles()).filter(({ path }) => PRODUCTION.test(path) && !IS_TEST.test(path));
  expect(shipped.length).toBeGreaterThan(300);
  const helpers = shipped.filter(({ path, text }) => /(^|\/)test/.test(path) || /from 'vitest'/.test(text));
  expect(helpers.map(({ path }) => path)).toEqual([]);
  expect(shipped.filter(({ text }) => IMPORTS_TEST.test(text)).map(({ path }) => path)).toEqual([]);
});

it('no helper has its own hooks, which would run only for the first file of a process (test/setup/after-tests.ts)', async () => {
  const helpers = (await sourceFiles()).filter(({ path }) => /^test\/(?!setup\/)/.test(path) && !IS_TEST.test(path));
  expect(helpers.length).toBeGreaterThan(100);
  const hooked = helpers.filter(({ text }) => /^(before|after)(All|Each)\(/m.test(text));
  expect(hooked.map(({ path }) => path)).toEqual([]);
});
