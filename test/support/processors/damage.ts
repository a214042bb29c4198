/** Random damage to any part of a block, except hash and height, which identify the block. */
import fc from 'fast-check';
import { parseExact, stringifyExact } from '../../../domain/json/exact-json.ts';

export interface BlockDamage {
  /** Index of the block, modulo their number. */
  readonly at: number;
  /** Path to the part; each step is modulo the number of members. */
  readonly path: readonly number[];
  readonly value: unknown;
}

type Part = Record<string, unknown>;

const VALUES: readonly unknown[] = [
  undefined, // removes the part
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

/** Returns a copy of the block with all `damages` applied. */
export function damaged(block: unknown, damages: readonly BlockDamage[]): unknown {
  const copy = parseExact(stringifyExact(block)) as Part;
  for (const { path, value } of damages) damageAt(copy, path, value);
  return copy;
}

/** Most damage is inside transactions, which are most of a block. */
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
  parent[key] = structuredClone(value); // copied, because a later damage may change it
}
