/** The columns of a fact in Postgres, with the conversions of each sort of value for writing and reading. */
import type { Definition } from '../../schemas/facts/definition.ts';
import {
  type CurrencyAmounts,
  type CurrencyFlows,
  columnName,
  type Field,
  type Fields,
  type ListField,
  type Sort,
  type ValuesOf,
} from '../../schemas/facts/fields.ts';
import { columns, jsonReader, type StoredRow } from '../row-reader.ts';
import { readAmounts as readAmountTexts } from '../stored-json/amounts.ts';
import type { CopyValue } from './copy.ts';

type ColumnType = 'text' | 'bytea' | 'integer' | 'bigint' | 'numeric' | 'text[]' | 'json';
type Values = Readonly<Record<string, unknown>>;

export interface FactColumn {
  readonly name: string;
  /** The field in this column; for a member of a detail, the detail. */
  readonly field: string;
  readonly type: ColumnType;
  of(fact: Values): CopyValue;
}

interface Codec {
  readonly type: ColumnType;
  /** Never called with null. */
  readonly write: (value: never) => CopyValue;
  /** Null if the value cannot be restored from the column. */
  readonly read: ((stored: never) => unknown) | null;
  /** Whether `read` accepts null, because an empty value is stored as null. */
  readonly readsNull?: true;
}

const asIs = <T>(value: T): T => value;
const jsonText = (text: string): CopyValue => ({ json: text });
const written = (type: ColumnType): Codec => ({ type, write: asIs, read: asIs });

const CODECS: { readonly [S in Exclude<Sort, 'list' | 'detail'>]: Codec } = {
  text: written('text'),
  numeral: written('text'),
  choice: written('text'),
  texts: written('text[]'),
  choices: written('text[]'),
  hash: { type: 'bytea', write: (hex: string) => ({ hex }), read: asIs },
  json: { type: 'json', write: jsonText, read: asIs },
  // The driver returns int4 as a number and int8 as a bigint.
  integer: { type: 'integer', write: asIs, read: Number },
  seconds: { type: 'bigint', write: asIs, read: Number },
  satoshis: written('bigint'),
  sum: { type: 'numeric', write: asIs, read: BigInt },
  amounts: { type: 'json', write: amountsJson, read: readAmounts, readsNull: true },
  flows: { type: 'json', write: (flows: CurrencyFlows) => amountsJson(netAmounts(flows)), read: null },
};

function codecOf(field: Exclude<Field, { sort: 'detail' }>): Codec {
  return field.sort === 'list' ? listCodec(field) : CODECS[field.sort];
}

/** Returns one column for each field, in order; a detail has one for each of its members. */
export function factColumns(fields: Fields): FactColumn[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    if (field.sort !== 'detail') return column(name, columnName(name), field);
    return factColumns(field.members).map((member) => ({
      ...member,
      field: name,
      name: `${columnName(name)}_${member.name}`,
      of(fact: Values) {
        const held = fact[name];
        return held === null ? null : member.of(held as Values);
      },
    }));
  });
}

function column(field: string, name: string, shape: Exclude<Field, { sort: 'detail' }>): FactColumn {
  const { type, write } = codecOf(shape);
  if (write === asIs) return { name, field, type, of: (fact) => fact[field] as CopyValue };
  const put = write as (value: unknown) => CopyValue;
  if (!shape.nullable) return { name, field, type, of: (fact) => put(fact[field]) };
  return {
    name,
    field,
    type,
    of(fact) {
      const value = fact[field];
      return value === null ? null : put(value);
    },
  };
}

/** Returns a reader that restores facts from stored rows. */
export function factReader<const T extends string, F extends Fields>({
  type,
  fields,
}: Pick<Definition<T, F>, 'type' | 'fields'>): (row: StoredRow) => { readonly type: T } & ValuesOf<F> {
  const read = fieldsReader(type, fields, '');
  return (row) => ({ type, ...(read(row) as ValuesOf<F>) });
}

/** Returns a reader for some fields of a fact, from rows that contain at least their columns. */
export function partReader<F extends Fields, const N extends keyof F & string>(
  { type, fields }: Pick<Definition<string, F>, 'type' | 'fields'>,
  names: readonly N[],
): (row: StoredRow) => Pick<ValuesOf<F>, N> {
  const part = Object.fromEntries(
    Object.entries(fields).filter(([name]) => (names as readonly string[]).includes(name)),
  );
  const read = fieldsReader(type, part, '');
  return (row) => read(row) as Pick<ValuesOf<F>, N>;
}

type Read = (row: StoredRow) => Values;

function fieldsReader(type: string, fields: Fields, prefix: string): Read {
  const readers = Object.entries(fields).map(([name, field]) => ({
    name,
    read: fieldReader(`${name} of a ${type}`, prefix + columnName(name), field),
  }));
  return (row) => {
    const values: Record<string, unknown> = {};
    for (const { name, read } of readers) values[name] = read(row);
    return values;
  };
}

function fieldReader(what: string, column: string, field: Field): (row: StoredRow) => unknown {
  if (field.sort === 'detail') {
    const read = fieldsReader(what, field.members, `${column}_`);
    return (row) => {
      const values = read(row);
      return field.nullable && Object.values(values).every((value) => value === null) ? null : values;
    };
  }
  const { read, readsNull } = codecOf(field);
  if (!read) throw new TypeError(`${what} cannot be read back: Postgres holds less than derive wrote`);
  if (read === asIs) return (row) => row[column];
  const take = read as (stored: unknown) => unknown;
  return (row) => {
    const stored = row[column];
    return stored === null && !readsNull ? null : take(stored);
  };
}

/** {i-address: "satoshis"}; null when empty. */
function amountsJson(amounts: CurrencyAmounts): CopyValue {
  const entries = Object.entries(amounts);
  if (entries.length === 0) return null;
  return jsonText(JSON.stringify(Object.fromEntries(entries.map(([id, amount]) => [id, String(amount)]))));
}

const NOTHING: CurrencyAmounts = {};

function readAmounts(text: string | null): CurrencyAmounts {
  if (text === null) return NOTHING;
  return Object.fromEntries(Object.entries(readAmountTexts(text)).map(([id, satoshis]) => [id, BigInt(satoshis)]));
}

/** Received minus sent by currency, without currencies whose net is 0. */
function netAmounts(flows: CurrencyFlows): CurrencyAmounts {
  const net: Record<string, bigint> = {};
  for (const currencyId in flows) {
    const flow = flows[currencyId];
    if (flow && flow.received !== flow.sent) net[currencyId] = flow.received - flow.sent;
  }
  return net;
}

/** Stores the list as one JSON text; amounts are strings in it, since JSON readers parse numbers as doubles. */
function listCodec({ members }: ListField): Codec {
  const names = Object.entries(members).map(([name, { sort }]) => ({ name, isAmount: sort === 'satoshis' }));
  const readItems = jsonReader(
    columns.list(
      columns.object(
        Object.fromEntries(names.map(({ name, isAmount }) => [name, isAmount ? columns.text : columns.unknown])),
      ),
    ),
  );
  const each = (item: Values, convert: (amount: unknown) => unknown): Values => {
    const copy: Record<string, unknown> = {};
    for (const { name, isAmount } of names) copy[name] = isAmount ? convert(item[name]) : item[name];
    return copy;
  };
  return {
    type: 'json',
    write: (list: readonly Values[]) => jsonText(JSON.stringify(list.map((item) => each(item, String)))),
    read: (text: string) => readItems(text).map((item) => each(item, (amount) => BigInt(amount as string))),
  };
}
