/** Arbitrary facts, generated from their definitions. */
import fc from 'fast-check';
import type { Field, Fields } from '../../../../schemas/facts/fields.ts';
import { definitionOf, type FactOf, type FactType } from '../../../../schemas/facts.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const hash = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 });
const id = fc.string({ unit: fc.constantFrom(...'abcdefHJKMNPR123456789'), minLength: 1, maxLength: 64 });
/** Prefers values that doubles and int64 get wrong. */
export const satoshis: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(0n, 10n ** 18n, 10n ** 18n + 1n, -(10n ** 18n), 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)),
);
const flow = fc.record({ received: satoshis, sent: satoshis }, { noNullPrototype: true });

/** Any facts of the type that its definition allows. */
export function arbitraryFact<T extends FactType>(type: T): fc.Arbitrary<FactOf<T>> {
  const { fields, key } = definitionOf(type);
  // Texts of keys are never empty and contain no line break.
  const ids = (key ?? []).filter((name) => fields[name]?.sort === 'text').map((name) => [name, id] as const);
  const values = fc.tuple(recordOf(fields), fc.record(Object.fromEntries(ids)));
  return values.map(([all, keys]) => ({ type, ...all, ...keys }) as unknown as FactOf<T>);
}

function recordOf(fields: Fields): fc.Arbitrary<Record<string, unknown>> {
  const members = Object.entries(fields).map(([name, field]) => [name, arbitraryOf(field)] as const);
  return fc.record(Object.fromEntries(members), { noNullPrototype: true });
}

function arbitraryOf(field: Field): fc.Arbitrary<unknown> {
  const value = arbitraryValue(field);
  return field.nullable ? fc.option(value, { nil: null }) : value;
}

function arbitraryValue(field: Field): fc.Arbitrary<unknown> {
  switch (field.sort) {
    case 'text':
      return text;
    case 'hash':
      return hash;
    case 'numeral':
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map(String);
    case 'json':
      return fc.json({ maxDepth: 1 });
    case 'integer':
    case 'seconds':
      return fc.integer({ min: field.min, max: field.max });
    case 'satoshis':
      return satoshis;
    case 'sum':
      return fc.bigInt({ min: 0n, max: 10n ** 37n });
    case 'choice':
      return fc.constantFrom(...field.values);
    case 'choices':
      return fc.array(fc.constantFrom(...field.values), { maxLength: 4 });
    case 'texts':
      return fc.array(text, { maxLength: 3 });
    case 'amounts':
      return fc.dictionary(id, satoshis, { maxKeys: 4, noNullPrototype: true });
    case 'flows':
      return fc.dictionary(id, flow, { maxKeys: 4, noNullPrototype: true });
    case 'list':
      return fc.array(recordOf(field.members), { maxLength: 4 });
    case 'detail':
      return recordOf(field.members);
    default:
      throw new TypeError(`unknown field: ${field satisfies never}`);
  }
}
