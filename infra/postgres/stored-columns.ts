/** The columns of a fact for a row reader: the type that the driver returns for each sort of field. */
import type { Definition } from '../../schemas/facts/definition.ts';
import { columnName, type Field, type Fields, type ValueOf } from '../../schemas/facts/fields.ts';
import { columns, type ReadColumn } from '../row-reader.ts';

/** The value that the driver returns for a field: `amounts` and `flows` without an entry are null. */
type StoredValue<F extends Field> =
  | Extract<ValueOf<F>, null>
  | (F['sort'] extends 'choice' | 'texts' | 'choices'
      ? NonNullable<ValueOf<F>>
      : F extends { readonly wide: true } | { readonly sort: 'seconds' | 'satoshis' }
        ? bigint
        : F['sort'] extends 'integer'
          ? number
          : F['sort'] extends 'amounts' | 'flows'
            ? string | null
            : string);
type SnakeCase<S extends string> = S extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Rest>}`
  : S;

/** Returns the columns of some fields of a fact by column name. */
export function storedColumns<F extends Fields, const N extends keyof F & string>(
  { type, fields }: Pick<Definition<string, F>, 'type' | 'fields'>,
  names: readonly N[],
): { readonly [K in N as SnakeCase<K>]: ReadColumn<StoredValue<F[K]>> } {
  const all = names.map(
    (name) => [columnName(name), storedColumn(`${name} of a ${type}`, fields[name] as Field)] as const,
  );
  return Object.fromEntries(all) as { readonly [K in N as SnakeCase<K>]: ReadColumn<StoredValue<F[K]>> };
}

function storedColumn(what: string, field: Field): ReadColumn<unknown> {
  return field.nullable ? columns.nullable(plainColumn(what, field)) : plainColumn(what, field);
}

function plainColumn(what: string, field: Field): ReadColumn<unknown> {
  switch (field.sort) {
    case 'choice':
      return columns.choice(field.values);
    case 'texts':
    case 'choices':
      return columns.texts;
    case 'integer':
      return field.wide ? columns.bigint : columns.number;
    case 'seconds':
    case 'satoshis':
      return columns.bigint;
    case 'amounts':
    case 'flows':
      return columns.nullable(columns.text);
    case 'detail':
      throw new TypeError(`${what} stands in several columns: name each with its type`);
    default:
      return columns.text;
  }
}
