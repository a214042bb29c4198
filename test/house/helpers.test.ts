import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const PRODUCTION = /^(api|client|commands|domain|infra|pipeline|processors|recordings|schemas)\/|^[^/]+\.ts$/;
const IS_TEST = /\.test\.ts$|^vitest\.config\.ts$/;
const IMPORTS_TEST = /(?:from|import)\s*\(?\s*'(?:\.\.?\/)+test\//;

it('what tests share is in test/support, and nothing that is shipped imports it', async () => {
  const shipped = (await sourceFiles()).filter(({ path }) => PRODUCTION.test(path) && !IS_TEST.test(path));
  expect(shipped.length).toBeGreaterThan(300);
  const helpers = shipped.filter(({ path, text }) => /(^|\/)test/.test(path) || /from 'vitest'/.test(text));
  expect(helpers.map(({ path }) => path)).toEqual([]);
  expect(shipped.filter(({ text }) => IMPORTS_TEST.test(text)).map(({ path }) => path)).toEqual([]);
});
