/**
 * Code defined in domain/ has no copy elsewhere in the program, and each exported type name has one meaning. Tests that check the program may
 * have their own definitions.
 */
import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const PROGRAM = /^(api|commands|infra|pipeline|processors|schemas)\//;
const FOR_TESTS = /\.test\.ts$|\/testing\//;

const COPIES: readonly (readonly [what: string, copy: RegExp])[] = [
  ['a flag of an identity', /0x8000\b|\b32768\b/],
  ['whether an identity is revoked', /flags & [${]*(IDENTITY_FLAGS\.)?REVOKED/],
  ['what counts as refunded', /'unmatched' AND [\w.]*reason|NO_DELIVERY\b[^=\n]* = 'no_delivery'/],
  ['the most satoshis of a column', /2n \*\* 63n/],
  ['the text of an error', /instanceof Error \? \w+\.message/],
  ['the suffix of bridged currencies', /'\.vETH'/],
  ['a flag as a number in SQL', /\b(flags|options) & \d|bitAnd\((flags|options), \w+\)/],
  ['the seconds of a day', /\b86_?400\b(?<!revalidate=86400)/],
  ['the pattern of an address', /A-HJ-NP-Za-km-z\]\{33\}/],
  ['the null hash', /'0'\.repeat\(64\)/],
  ['the pattern of a hash', /\^"?\[0-9a-f(A-F)?\]\{64\}"?\$/],
  ['a block by height and hash', /interface \w+ \{\s+readonly height: number;\s+readonly hash: string;\s+\}/],
  ['how reserves are read', /function \w*[rR]eserves\(\w+: string\)/],
  ['how base58check is read', /createBase58check/],
  ['a list of regimes or statuses', /'live' \| 'backfill'|'completed' \| 'refunded'|'healthy' \| 'warning'/],
];

/** Types of user programs, of the published client and of the page (which runs in a browser) are independent. */
const STANDALONE = /^(client|examples|web)\//;
const TYPE = /^export (?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm;

const all = await sourceFiles();
const files = all.filter(({ path }) => PROGRAM.test(path) && !FOR_TESTS.test(path));

it.each(COPIES)('%s has one definition', (_, copy) => {
  expect(files.length).toBeGreaterThan(300);
  expect(files.filter(({ text }) => copy.test(text)).map(({ path }) => path)).toEqual([]);
});

it('an exported type name is declared once', () => {
  const declared = new Map<string, string[]>();
  for (const { path, text } of all.filter((file) => !STANDALONE.test(file.path))) {
    for (const [, name = ''] of text.matchAll(TYPE)) declared.set(name, [...(declared.get(name) ?? []), path]);
  }
  expect(declared.size).toBeGreaterThan(700);
  expect([...declared].filter(([, paths]) => paths.length > 1)).toEqual([]);
});
