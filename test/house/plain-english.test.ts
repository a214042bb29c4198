/** Comments of the program are plain English: no phrase of the dialect that the glossary and the review replaced. */
import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const PROGRAM = /^(api|commands|domain|infra|pipeline|processors|recordings|schemas)\//;
const COMMENT = /\/\*\*[\s\S]*?\*\/|(?<!:)\/\/ .*/g;

const BANNED: readonly (readonly [phrase: string, instead: string, pattern: RegExp])[] = [
  ['anew', 'again', /\banew\b/],
  ['somebody, nobody', 'the caller, the operator, no client', /\b(some|no)body\b/i],
  ['told', 'published, notified, known', /(?<!`)\btold\b(?!`|_)/],
  ['beside', 'next to, in addition to', /\bbeside\b/],
  ['twice is as once', 'idempotent', /twice is as once/i],
  ['a comment that begins with "Of"', 'the noun that is meant', /^\/(\*\*|\/) Of /],
  ['a comment that begins with "Who"', 'the caller that, the process that', /^\/(\*\*|\/) Who /],
];

const comments = (await sourceFiles())
  .filter(({ path }) => PROGRAM.test(path) && !path.endsWith('.test.ts'))
  .flatMap(({ path, text }) => [...text.matchAll(COMMENT)].map(([comment]) => ({ path, comment })));

it.each(BANNED)('no comment says %s: write %s', (_, __, pattern) => {
  expect(comments.length).toBeGreaterThan(2_000);
  expect(comments.filter(({ comment }) => pattern.test(comment))).toEqual([]);
});
