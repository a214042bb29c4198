/** Compares the frozen schema files of the `facts` topic with the definitions. */
import { expect, it } from 'vitest';
import type { Field, Fields } from '../facts/fields.ts';
import { DEFINITIONS, definitionOf, PUBLISHED_FACTS } from '../facts.ts';
import { branchName } from './fact-list.ts';
import { FACT_LISTS, schemaFile } from './single-object.ts';

type Shape = string | readonly Shape[] | { readonly [name: string]: Shape };
interface AvroRecord {
  readonly name: string;
  readonly fields: readonly { readonly name: string; readonly type: unknown }[];
}

/** Returns the branches of a list by name, each with its fields and their types, without names of inner types and docs. */
function branchesOf(list: (typeof FACT_LISTS)[number]): ReadonlyMap<string, Record<string, Shape>> {
  const named = new Map<string, Shape>();
  const { fields } = schemaFile(list).schema as AvroRecord;
  const [facts] = fields as unknown as { readonly type: { readonly items: readonly AvroRecord[] } }[];
  return new Map((facts?.type.items ?? []).map((branch) => [`verustream.${branch.name}`, recordShape(branch)]));

  function recordShape({ fields }: AvroRecord): Record<string, Shape> {
    return Object.fromEntries(fields.map(({ name, type }) => [name, shapeOf(type)]));
  }

  function shapeOf(type: unknown): Shape {
    if (typeof type === 'string') return named.get(type) ?? type;
    if (Array.isArray(type)) return type.map(shapeOf);
    const complex = type as { type: string; name?: string; items?: unknown; values?: unknown; symbols?: string[] };
    const shape = complexShape(complex, type as AvroRecord);
    if (complex.name !== undefined) named.set(complex.name, shape);
    return shape;
  }

  function complexShape(
    complex: { type: string; items?: unknown; values?: unknown; symbols?: string[] },
    type: AvroRecord,
  ): Shape {
    switch (complex.type) {
      case 'record':
        return recordShape(type);
      case 'array':
        return { array: shapeOf(complex.items) };
      case 'map':
        return { map: shapeOf(complex.values) };
      case 'enum':
        return { enum: complex.symbols ?? [] };
      default:
        return 'logicalType' in complex ? String(complex.logicalType) : complex.type;
    }
  }
}

function fieldShapes(fields: Fields): Record<string, Shape> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldShape(field)]));
}

function fieldShape(field: Field): Shape {
  return field.nullable ? ['null', valueShape(field)] : valueShape(field);
}

function valueShape(field: Field): Shape {
  switch (field.sort) {
    case 'text':
    case 'hash':
    case 'numeral':
    case 'json':
      return 'string';
    case 'integer':
    case 'seconds':
      return 'long';
    case 'satoshis':
      return 'satoshis';
    case 'choice':
      return { enum: field.values };
    case 'choices':
      return { array: { enum: field.values } };
    case 'texts':
      return { array: 'string' };
    case 'amounts':
      return { map: 'satoshis' };
    case 'flows':
      return { map: { received: 'satoshis', sent: 'satoshis' } };
    case 'list':
      return { array: fieldShapes(field.members) };
    case 'detail':
      return fieldShapes(field.members);
    case 'sum':
      throw new TypeError('a sum may exceed an Avro long: a fact with one cannot be published');
    default:
      throw new TypeError(`unknown field: ${field satisfies never}`);
  }
}

const newest = FACT_LISTS.at(-1) ?? 'FactList';

it('the newest list has a branch for each published fact and no other', () => {
  const { file } = schemaFile(newest);
  expect([...branchesOf(newest).keys()].sort(), `branches of schemas/avro/${file}`).toEqual(
    PUBLISHED_FACTS.map(branchName).sort(),
  );
});

it.each(PUBLISHED_FACTS)('the newest list has the fields of the definition of %s', (type) => {
  const { file } = schemaFile(newest);
  expect(branchesOf(newest).get(branchName(type)), `${branchName(type)} of schemas/avro/${file}`).toEqual(
    fieldShapes(definitionOf(type).fields),
  );
});

it.each(FACT_LISTS.slice(0, -1))('fields that %s lacks have a value in the definition', (list) => {
  for (const [branch, fields] of branchesOf(list)) {
    const definition = Object.values(DEFINITIONS).find(({ type }) => branchName(type) === branch);
    if (!definition) throw new Error(`${branch} of ${list} is the branch of no fact`);
    const missing = Object.keys(definition.fields).filter((name) => !(name in fields));
    expect(Object.keys(definition.unsaid ?? {}), `unsaid of ${definition.type}`).toEqual(
      expect.arrayContaining(missing),
    );
  }
});
