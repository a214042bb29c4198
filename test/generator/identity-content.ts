/** Content maps of identities in every form, up to the daemon's limits. */
import { contentKey } from './addresses.ts';
import { filler, fixedHex, list, text } from './print.ts';
import { sha256 } from './transaction.ts';
import type { World } from './world.ts';

const STRING = 'iK7a5JNJnbeuYWVHCDRpJosj3irGJ5Qa8c';
const DATA_DESCRIPTOR = 'i4GC1YGEVD21afWudGoFJVdnfjJ5XWnCQv';
const MULTIMAP_REMOVE = 'i5Zkx5Z7tEfh42xtKfwbJ5LgEWE9rEgpFY';
const REMOVE_KEY = 3;
const REMOVE_ALL = 4;

/** Bytes that fit into one output together with the rest of an identity. */
const LARGEST_BYTES = 5500;
const KEYS = 6;
const ENCRYPTED_WITH_KEY = 5;
const WITH_LABEL_AND_TYPE = 96;

const TEXTS = [
  'plain text value',
  'second ✓ utf8',
  '',
  '"quoted" \\ and\nbroken',
  'nul \u0000 inside',
  '🚀'.repeat(20),
  '{"__proto__":{}}',
  ', 1.50000000, [2.5, "3": 4.25',
  '\u007f1.5',
];

/** JSON of a contentmultimap. */
export function contentMultimap(world: World): string {
  const { random } = world;
  if (random.oneIn(8)) return '{}';
  const keys = new Set(Array.from({ length: 1 + random.below(3) }, () => contentKey(`${random.below(KEYS)}`)));
  const isLarge = random.oneIn(12);
  const bytes = isLarge ? Math.floor(LARGEST_BYTES / keys.size) : random.below(64);
  const values = Array.from(keys, (key) => `"${key}":${list(valuesOf(world, key, bytes))}`);
  return `{${values.join(',')}}`;
}

function valuesOf(world: World, key: string, bytes: number): string[] {
  const { random } = world;
  return Array.from({ length: 1 + random.below(3) }, (_, index) =>
    value(world, key, index === 0 ? bytes : random.below(32)),
  );
}

function value(world: World, key: string, bytes: number): string {
  const { random } = world;
  const data = filler(fixedHex(world.nextNumber(), 8), bytes);
  switch (random.below(6)) {
    case 0:
      return `{"${STRING}":${text(random.pick(TEXTS))}}`;
    case 1:
      return (
        `{"${DATA_DESCRIPTOR}":{"version":1,"flags":${WITH_LABEL_AND_TYPE},"mimetype":"text/plain",` +
        `"objectdata":{"message":${text(random.pick(TEXTS))}},"label":"label ${bytes}"}}`
      );
    case 2:
      return (
        `{"${DATA_DESCRIPTOR}":{"version":1,"flags":${ENCRYPTED_WITH_KEY},"objectdata":"${data}",` +
        `"epk":"${sha256(data)}"}}`
      );
    case 3:
      return random.oneIn(2)
        ? `{"${MULTIMAP_REMOVE}":{"version":1,"action":${REMOVE_KEY},"entrykey":"${key}","valuehash":"${fixedHex(0, 64)}"}}`
        : `{"${MULTIMAP_REMOVE}":{"version":1,"action":${REMOVE_ALL}}}`;
    case 4:
      return text(Buffer.from(JSON.stringify({ type: 'post', number: bytes })).toString('hex'));
    default:
      return `"${data}"`;
  }
}

/** JSON of a contentmap: byte-reversed hashes to hashes. */
export function contentMap(world: World): string {
  const hash = sha256(`content ${world.random.below(KEYS)}`);
  return world.random.oneIn(3) ? '{}' : `{"${hash.slice(0, 40)}":"${sha256(hash)}"}`;
}
