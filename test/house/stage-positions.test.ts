import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const OWNER = 'infra/postgres/stage-positions.ts';
const isTest = (path: string) => /\.test\.ts$|\/testing\/|^test\/|^benchmarks\//.test(path);

it('one file contains all SQL on the positions of the stages', async () => {
  const files = (await sourceFiles()).filter(({ path }) => !isTest(path));
  const named = files.filter(({ text }) => /\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+stage_positions\b/i.test(text));
  expect(named.map(({ path }) => path)).toEqual([OWNER]);
});
