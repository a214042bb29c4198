/** Rows as a statement gives them: each column is checked for what its reader promises. docs/decisions/0051-schemas-give-types.md */

/** A row as the stores give it; of Postgres: bigint for int8, hex for bytea, text for json. */
export type StoredRow = Readonly<Record<string, unknown>>;

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
