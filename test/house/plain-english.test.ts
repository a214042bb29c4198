/** Comments, messages, docs and names are plain English: they contain none of the phrases and names that the project has replaced. */
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ROOT, sourceFiles } from './source-files.ts';

const PROGRAM = /^(api|client|commands|domain|infra|pipeline|processors|recordings|schemas|web)\//;
const COMMENT = /\/\*\*[\s\S]*?\*\/|(?<!:)\/\/ .*/g;

const BANNED: readonly (readonly [phrase: string, instead: string, pattern: RegExp])[] = [
  ['anew', 'again', /\banew\b/],
  ['somebody, nobody, anybody', 'the caller, the operator, no client', /\b(some|no|any)body\b/i],
  ['told', 'published, notified, known', /(?<!`)\btold\b(?!`|_)/],
  ['beside', 'next to, in addition to', /\bbeside\b/],
  ['twice is as once', 'idempotent', /twice is as once/i],
  ['a comment that begins with "Of"', 'the noun that is meant', /^\/[*/]+[\s*]+Of /],
  ['a comment that begins with "Who"', 'the caller that, the process that', /^\/[*/]+[\s*]+Who /],
  ['whoever', 'a caller that, whichever process', /\bwhoever\b/i],
  ['is said, goes on', 'is reported, continues', /\b(is said|goes on)\b/],
];

const MESSAGE = /'(?:[^'\\\n]|\\.)* (?:[^'\\\n]|\\.)*'|`(?:[^`\\\n]|\\.)* (?:[^`\\\n]|\\.)*`/g;
/** Text between tags, over several lines. */
const JSX_TEXT = /(?<!=)>[^<>{}=;()]*\w [^<>{}=;()]*[<{]/g;
const SQL = /\b(SELECT|FROM|WHERE|WITH|AS|JOIN)\b/;

/** Phrases banned in log lines, errors, API descriptions and command output. */
const BANNED_IN_MESSAGES: readonly (readonly [phrase: string, instead: string, pattern: RegExp])[] = [
  ['anew', 'again', /\banew\b/],
  ['somebody, nobody, anybody', 'the caller, the operator, no client', /\b(some|no|any)body\b/i],
  ['told', 'published, notified, sent', /\btold\b/],
  ['stands twice', 'is used twice', /\bstands twice\b/],
  ['well again', 'healthy again', /\bwell again\b/],
  ['broke off', 'ended early, was cancelled', /\bbroke off\b/],
  ['no proper', 'missing or malformed', /\bno proper\b/],
  ['goes on by itself', 'continues by itself', /\bgoes on by itself\b/],
];

const BANNED_IN_DOCS: readonly (readonly [phrase: string, instead: string, pattern: RegExp])[] = [
  ['anew', 'again', /\banew\b/],
  ['somebody, nobody, anybody', 'no client, no one who …', /\b(some|no|any)body\b/i],
  ['told', 'published, notified, sent', /(?<!`)\btold\b(?!`|_)/],
  ['beside', 'next to', /\bbeside\b/],
  ['for want of', 'because there is no', /\bfor want of\b/],
  ['whoever', 'a caller that, whichever process', /\bwhoever\b/i],
  ['is said, goes on', 'is reported, continues', /\b(is said|goes on)\b/],
];

/** Names that are metaphors. */
const BANNED_NAMES: readonly (readonly [name: RegExp, instead: string])[] = [
  [/^([tT]old|tell(?![a-z]))/, 'published…, publish…'],
  [/^[tT]akeBack|[tT]akenBack$/, 'revert…, reopen…'],
  [/^living/i, 'active…'],
  [/^besides/, 'extraTag'],
  [
    /^(remembering|breathe|breather|withhold|lateComer|passRewind)$/,
    'memoize, yieldToEventLoop, without…, late…, record…',
  ],
  [/^(Toll|Fare|Bill|Claim|Entrance)$/, 'cost, charge, debit'],
  [/^(Question|Asked)$|^Asked[A-Z]|^[A-Z]\w*(Question|Asked)$/, '…Request, …Query'],
  [/^(HeldState|WantedState|loadWanted|wantedState)$/, 'CachedState, RequiredKeys'],
];

const DECLARED = /\b(?:const|let|function\*?|class|interface|type) (\w+)/g;
/** Methods and properties, except those whose value is an object: their keys may be names in an answer. */
const MEMBER = /^ +(?:(?:readonly|static|override|async|get|set) )*(\w+)\??(?:: (?!\{)|\()/gm;

/** Types of user programs and of the published client are independent. */
const STANDALONE = /^(client|examples)\//;

const files = await sourceFiles();
const program = files.filter(({ path }) => PROGRAM.test(path) && !path.endsWith('.test.ts'));
const elements = program.filter(({ path }) => path.endsWith('.tsx'));
const found = (pattern: RegExp, where = program) =>
  where.flatMap(({ path, text }) => [...text.matchAll(pattern)].map(([match]) => ({ path, match })));
const comments = found(COMMENT).map(({ path, match }) => ({ path, comment: match }));
const messages = [...found(MESSAGE).filter(({ match }) => !SQL.test(match)), ...found(JSX_TEXT, elements)];

it.each(BANNED)('no comment says %s: write %s', (_, __, pattern) => {
  expect(comments.length).toBeGreaterThan(2_000);
  expect(comments.filter(({ comment }) => pattern.test(comment))).toEqual([]);
});

it.each(BANNED_IN_MESSAGES)('no message says %s: write %s', (_, __, pattern) => {
  expect(messages.length).toBeGreaterThan(1_500);
  expect(messages.filter(({ match }) => pattern.test(match))).toEqual([]);
});

describe('the pages for readers', async () => {
  const lines: { path: string; line: string }[] = [];
  for await (const path of glob(['*.md', 'docs/*.md', '{benchmarks,client,recordings}/README.md'], { cwd: ROOT })) {
    for (const line of readFileSync(`${ROOT}/${path}`, 'utf8').split('\n')) lines.push({ path, line });
  }

  it.each(BANNED_IN_DOCS)('do not say %s: they say %s', (_, __, pattern) => {
    expect(lines.length).toBeGreaterThan(2_000);
    expect(lines.filter(({ line }) => pattern.test(line))).toEqual([]);
  });
});

it('no name is a metaphor', () => {
  const names = files
    .filter(({ path }) => !STANDALONE.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(DECLARED), ...text.matchAll(MEMBER)].map(([, name = '']) => ({ path, name })),
    );
  expect(names.length).toBeGreaterThan(10_000);
  for (const [pattern, instead] of BANNED_NAMES) {
    expect({ instead, names: names.filter(({ name }) => pattern.test(name)) }).toEqual({ instead, names: [] });
  }
});
