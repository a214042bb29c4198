/** Checks rows of statements, and JSON in their columns, against the types of their readers. docs/decisions/0051-schemas-give-types.md */

/** A row as a store returns it. In Postgres rows, int8 is a bigint, bytea is hex, and json is text. */
export type StoredRow = Readonly<Record<string, unknown>>;

/** `T` is the type of the value in a row, as `pg` returns it. */
export interface ReadColumn<T> {
  /** Description for the error message. */
  readonly what: string;
  holds(value: unknown): value is T;
}

export type ReadColumns = Readonly<Record<string, ReadColumn<unknown>>>;
export type RowOf<C extends ReadColumns> = { readonly [K in keyof C]: C[K] extends ReadColumn<infer T> ? T : never };

/** Returns the given row unchanged. @throws TypeError if a column is missing or has another type */
export type RowReader<Row> = (row: StoredRow) => Row;
export type RowRead<R> = R extends RowReader<infer Row> ? Row : never;

const column = <T>(what: string, holds: (value: unknown) => value is T): ReadColumn<T> => ({ what, holds });
const choice = <const T extends readonly (string | number)[]>(values: T) =>
  column(`one of ${values.join(', ')}`, (value): value is T[number] => values.some((known) => known === value));
/** The columns of `O` may be missing. */
type ObjectOfColumns<C extends ReadColumns, O extends ReadColumns> = RowOf<C> & Partial<RowOf<O>>;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown) => typeof value === 'string';
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);

export const columns = {
  /** text; also bytea as hex, and json and numeric as text. */
  text: column('a text', isText),
  /** int4 and floats. */
  number: column('a number', (value) => typeof value === 'number'),
  /** int8. */
  bigint: column('a bigint', (value) => typeof value === 'bigint'),
  /** timestamptz. */
  date: column('a date', (value) => value instanceof Date),
  /** A ClickHouse condition, whose type depends on the types of its operands. */
  flag: column('a boolean, 0 or 1', (value) => typeof value === 'boolean' || value === 0 || value === 1),
  boolean: column('a boolean', (value) => typeof value === 'boolean'),
  texts: column('a list of texts', isTexts),
  choice,
  list: <T>({ what, holds }: ReadColumn<T>): ReadColumn<readonly T[]> =>
    column(`a list, each ${what}`, (value): value is readonly T[] => Array.isArray(value) && value.every(holds)),
  /** A list with exactly one value for each column. */
  tuple: <const T extends readonly unknown[]>(...of: { readonly [K in keyof T]: ReadColumn<T[K]> }): ReadColumn<T> =>
    column(
      `(${of.map(({ what }) => what).join(', ')})`,
      (value): value is T =>
        Array.isArray(value) && value.length === of.length && of.every(({ holds }, at) => holds(value[at])),
    ),
  /** A JSON object with these members and, optionally, those of `optional`. */
  object: <const C extends ReadColumns, const O extends ReadColumns = Record<never, never>>(
    members: C,
    optional?: O,
  ) => {
    const all = Object.entries(members);
    const further = Object.entries(optional ?? {});
    return column(
      `an object of ${Object.keys(members).join(', ')}`,
      (value): value is ObjectOfColumns<C, O> =>
        isObject(value) &&
        all.every(([name, { holds }]) => holds(value[name])) &&
        further.every(([name, { holds }]) => value[name] === undefined || holds(value[name])),
    );
  },
  /** A JSON object whose members all have the same type. */
  record: <T>({ what, holds }: ReadColumn<T>) =>
    column(
      `an object, each member ${what}`,
      (value): value is Readonly<Record<string, T>> => isObject(value) && Object.values(value).every(holds),
    ),
  /** A value of either type. */
  either: <A, B>(one: ReadColumn<A>, other: ReadColumn<B>) =>
    column(`${one.what} or ${other.what}`, (value): value is A | B => one.holds(value) || other.holds(value)),
  /** A value that another reader checks. */
  unknown: column('anything', (_): _ is unknown => true),
  nullable: <T>({ what, holds }: ReadColumn<T>): ReadColumn<T | null> =>
    column(`${what} or null`, (value): value is T | null => value === null || holds(value)),
  /** A member that the daemon may omit. */
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

/** Reads the JSON text of a column. @throws SyntaxError for invalid JSON, TypeError for JSON of another type */
export function jsonReader<T>({ what, holds }: ReadColumn<T>): (text: string) => T {
  return (text) => {
    const value: unknown = JSON.parse(text);
    if (!holds(value)) throw new TypeError(`a JSON column holds something else than ${what}`);
    return value;
  };
}

function misread(row: StoredRow, name: string, what: string): TypeError {
  if (!Object.hasOwn(row, name)) return new TypeError(`a row has no column ${name}, which should hold ${what}`);
  const value = row[name];
  const held = value === null ? 'null' : typeof value;
  return new TypeError(`column ${name} holds ${held} where ${what} is expected`);
}
