/** Rows as a statement gives them: each column is checked for what its reader promises. docs/decisions/0051-schemas-give-types.md */
import type { Definition } from '../../schemas/facts/definition.ts';
import { columnName, type Field, type Fields, type ValueOf } from '../../schemas/facts/fields.ts';
import type { StoredRow } from './fact-columns.ts';

/** `T`: the value in a row, as `pg` gives it. */
export interface ReadColumn<T> {
  /** For the error. */
  readonly what: string;
  holds(value: unknown): value is T;
}

export type ReadColumns = Readonly<Record<string, ReadColumn<unknown>>>;
export type RowOf<C extends ReadColumns> = { readonly [K in keyof C]: C[K] extends ReadColumn<infer T> ? T : never };

/** Returns the row that it is given. @throws TypeError for a column that is missing or holds something else */
export type RowReader<Row> = (row: StoredRow) => Row;
export type RowRead<R> = R extends RowReader<infer Row> ? Row : never;

const column = <T>(what: string, holds: (value: unknown) => value is T): ReadColumn<T> => ({ what, holds });
const choice = <const T extends readonly (string | number)[]>(values: T) =>
  column(`one of ${values.join(', ')}`, (value): value is T[number] => values.some((known) => known === value));
const isText = (value: unknown) => typeof value === 'string';
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);

export const columns = {
  /** text, hex of bytea, text of json and numeric. */
  text: column('a text', isText),
  /** int4 and floats. */
  number: column('a number', (value) => typeof value === 'number'),
  /** int8. */
  bigint: column('a bigint', (value) => typeof value === 'bigint'),
  /** timestamptz. */
  date: column('a date', (value) => value instanceof Date),
  /** A condition of ClickHouse, whose type depends on those of its parts. */
  flag: column('a boolean, 0 or 1', (value) => typeof value === 'boolean' || value === 0 || value === 1),
  boolean: column('a boolean', (value) => typeof value === 'boolean'),
  texts: column('a list of texts', isTexts),
  choice,
  list: <T>({ what, holds }: ReadColumn<T>): ReadColumn<readonly T[]> =>
    column(`a list, each ${what}`, (value): value is readonly T[] => Array.isArray(value) && value.every(holds)),
  /** As many values as there are columns. */
  tuple: <const T extends readonly unknown[]>(...of: { readonly [K in keyof T]: ReadColumn<T[K]> }): ReadColumn<T> =>
    column(
      `(${of.map(({ what }) => what).join(', ')})`,
      (value): value is T =>
        Array.isArray(value) && value.length === of.length && of.every(({ holds }, at) => holds(value[at])),
    ),
  nullable: <T>({ what, holds }: ReadColumn<T>): ReadColumn<T | null> =>
    column(`${what} or null`, (value): value is T | null => value === null || holds(value)),
  /** A member that the daemon may leave out of an object. */
  optional: <T>({ what, holds }: ReadColumn<T>): ReadColumn<T | undefined> =>
    column(`${what} or nothing`, (value): value is T | undefined => value === undefined || holds(value)),
};

export function rowReader<const C extends ReadColumns>(expected: C): RowReader<RowOf<C>> {
  const all = Object.entries(expected);
  return (row) => {
    for (const [name, { what, holds }] of all) if (!holds(row[name])) throw misread(row, name, what);
    return row as RowOf<C>;
  };
}

function misread(row: StoredRow, name: string, what: string): TypeError {
  if (!Object.hasOwn(row, name)) return new TypeError(`a row has no column ${name}, which should hold ${what}`);
  const value = row[name];
  const held = value === null ? 'null' : typeof value;
  return new TypeError(`column ${name} holds ${held} where ${what} is expected`);
}

/** Value of a field as its column gives it: `amounts` and `flows` without an entry are null. */
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

/** The columns of some fields of a fact, each under its own name. */
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
