/** What domain/ defines has no copy elsewhere in the program. Tests that judge the program may keep their own. */
import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const PROGRAM = /^(api|commands|infra|pipeline|processors|schemas)\//;
const FOR_TESTS = /\.test\.ts$|\/testing\//;

const COPIES: readonly (readonly [what: string, copy: RegExp])[] = [
  ['a flag of an identity', /0x8000\b|\b32768\b/],
  ['a flag as a number in SQL', /\b(flags|options) & \d|bitAnd\((flags|options), \w+\)/],
  ['the seconds of a day', /\b86_?400\b(?<!revalidate=86400)/],
  ['the pattern of an address', /A-HJ-NP-Za-km-z\]\{33\}/],
  ['the pattern of a hash', /\^"?\[0-9a-f(A-F)?\]\{64\}"?\$/],
  ['a block by height and hash', /interface \w+ \{\s+readonly height: number;\s+readonly hash: string;\s+\}/],
  ['how reserves are read', /function \w*[rR]eserves\(\w+: string\)/],
  ['how base58check is read', /createBase58check/],
  ['a list of regimes or statuses', /'live' \| 'backfill'|'completed' \| 'refunded'|'healthy' \| 'warning'/],
];

const files = (await sourceFiles()).filter(({ path }) => PROGRAM.test(path) && !FOR_TESTS.test(path));

it.each(COPIES)('%s has one definition', (_, copy) => {
  expect(files.length).toBeGreaterThan(300);
  expect(files.filter(({ text }) => copy.test(text)).map(({ path }) => path)).toEqual([]);
});
