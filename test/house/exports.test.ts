/** A value is exported only if another file uses it. Types may be exported for readers of signatures that name them. */
import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const SHIPPED = /^(api|client|commands|domain|infra|pipeline|processors|recordings|schemas|web)\//;
const VALUE = /^export (?:async )?(?:const|let|function\*?|class) (\w+)/gm;
const WORD = /[A-Za-z_$][\w$]*/g;

it('an exported value is named in another file', async () => {
  const files = await sourceFiles();
  const filesOf = new Map<string, number>();
  for (const { text } of files) {
    for (const word of new Set(text.match(WORD))) filesOf.set(word, (filesOf.get(word) ?? 0) + 1);
  }
  const exported = files
    .filter(({ path }) => SHIPPED.test(path) && !/\.test\.tsx?$/.test(path))
    .flatMap(({ path, text }) => [...text.matchAll(VALUE)].map(([, name = '']) => ({ path, name })));
  expect(exported.length).toBeGreaterThan(1_500);
  expect(exported.filter(({ name }) => filesOf.get(name) === 1)).toEqual([]);
});
