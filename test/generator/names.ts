/** Names that often break software, all of which the daemon accepts. */
import type { World } from './world.ts';

const LONGEST_BYTES = 64;

const HOSTILE = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'NaN',
  '0',
  '-1',
  '1e5',
  '007',
  'true',
  '🚀',
  'to the 🌙',
  '👨‍👩‍👧‍👦',
  '🇨🇭',
  'Ⓐ',
  'аlice',
  'alicе',
  'ALICE',
  'İstanbul',
  'straße',
  '\u00e9', // composed
  'e\u0301', // and not: two names
  'مرحبا',
  'العالم 1',
  '你好',
  'Z̷͓̈́a̶̳͋l̸͉̈́g̷̱͗o̴̹͝',
  "Robert'); DROP TABLE identities;--",
  "' OR 1=1 --",
  '$1',
  '$' + '{name}',
  '%00',
  '%2e%2e%2f',
  '#',
  '&amp;',
  '[object Object]',
  'i5w5MuNik5NtLcYmNzcvaoixooEebB6MGV x',
  'two words',
  'x'.repeat(LONGEST_BYTES),
  '🚀'.repeat(LONGEST_BYTES / 4),
] as const;

const ORDINARY = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank', 'grace', 'heidi'] as const;

/** Returns a free name: a hostile or ordinary one the first time, with a number added later. */
export function newName(world: World, isTaken: (name: string) => boolean): string {
  const { random } = world;
  const base = random.oneIn(2) ? random.pick(HOSTILE) : random.pick(ORDINARY);
  if (!isTaken(base)) return base;
  return withinLimit(base, ` ${world.nextNumber()}`);
}

/** The daemon counts UTF-8 bytes; no character is split. */
function withinLimit(name: string, suffix: string): string {
  const characters = [...name];
  while (Buffer.byteLength(characters.join('') + suffix) > LONGEST_BYTES) characters.pop();
  return `${characters.join('').trimEnd()}${suffix}`;
}
