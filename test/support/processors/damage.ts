/** Blocks of which any part may be of any shape; their hash and height stay, or they would be other blocks. */
import fc from 'fast-check';
import { parseExact, stringifyExact } from '../../../domain/json/exact-json.ts';

export interface BlockDamage {
  /** Which block, modulo their number. */
  readonly at: number;
  /** The way down to the part, each step modulo the number of members. */
  readonly path: readonly number[];
  readonly value: unknown;
}

type Part = Record<string, unknown>;

const VALUES: readonly unknown[] = [
  undefined, // the part is missing
  null,
  [],
  {},
  '',
  'invalid',
  -1,
  2 ** 40,
  0.5,
  '\0',
  'a\nb',
  { a: { b: [null] } },
  { flags: 2, currencyvalues: { '\0': 1 } },
];

export const damage: fc.Arbitrary<BlockDamage> = fc.record({
  at: fc.nat(),
  path: fc.array(fc.nat(), { minLength: 1, maxLength: 8 }),
  value: fc.constantFrom(...VALUES),
});

/** A copy of the block in which each of `damages` has happened. */
export function damaged(block: unknown, damages: readonly BlockDamage[]): unknown {
  const copy = parseExact(stringifyExact(block)) as Part;
  for (const { path, value } of damages) damageAt(copy, path, value);
  return copy;
}

/** Most parts of a block are parts of its transactions. */
function damageAt(block: Part, [first = 0, ...path]: readonly number[], value: unknown): void {
  const members = Object.keys(block).filter((key) => key !== 'hash' && key !== 'height');
  let parent = block;
  let key = first % 5 > 0 && 'tx' in block ? 'tx' : (members[first % members.length] ?? 'tx');
  for (const step of path) {
    const next = parent[key];
    const keys = typeof next === 'object' && next !== null ? Object.keys(next) : [];
    if (keys.length === 0) break;
    parent = next as Part;
    key = keys[step % keys.length] ?? '';
  }
  parent[key] = structuredClone(value); // a later damage may go into it
}
