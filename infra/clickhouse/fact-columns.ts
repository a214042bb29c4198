/** The columns of a fact in ClickHouse, with the conversion of each sort of value. */
import { columnName, type Field, type Fields, fieldAt, type Sort } from '../../schemas/facts/fields.ts';
import type { CsvValue } from './csv.ts';

type Values = Readonly<Record<string, unknown>>;

export interface HistoryColumn {
  readonly name: string;
  of(fact: Values): CsvValue;
}

type ColumnSort = Exclude<Sort, 'list' | 'detail' | 'amounts' | 'flows' | 'sum'>;

/** Stored instead of null: text columns are not Nullable because a Nullable column needs an extra mask. */
const NULLS: { readonly [S in ColumnSort]: '' | null } = {
  text: '',
  hash: '',
  json: '',
  choice: '',
  choices: null,
  texts: null,
  numeral: null,
  integer: null,
  seconds: null,
  satoshis: null,
};

/** Returns the columns of the field at a path; a list has several. */
export function historyColumns(fields: Fields, path: string): HistoryColumn[] {
  const [name = '', member] = path.split('.');
  const field = fieldAt(fields, path);
  if (member === undefined) return fieldColumns(name, field);
  return fieldColumns(member, field).map((column) => ({
    name: `${columnName(name)}_${column.name}`,
    of: (fact) => column.of((fact[name] as Values | null) ?? { [member]: null }),
  }));
}

function fieldColumns(name: string, field: Field): HistoryColumn[] {
  const column = columnName(name);
  switch (field.sort) {
    case 'list':
      return Object.entries(field.arrays).map(([array, member]) => ({
        name: array,
        of: (fact) => (fact[name] as readonly Values[]).map((item) => item[member] as string | bigint),
      }));
    case 'amounts':
    case 'flows':
    case 'sum':
    case 'detail':
      throw new TypeError(`no ClickHouse column type fits ${name}: give its fact a history with rows of its own`);
    default: {
      const none = NULLS[field.sort];
      if (field.sort === 'numeral') return [{ name: column, of: (fact) => numberOf(fact[name]) }];
      if (!field.nullable || none === null) return [{ name: column, of: (fact) => fact[name] as CsvValue }];
      return [{ name: column, of: (fact) => (fact[name] as CsvValue) ?? none }];
    }
  }
}

const numberOf = (numeral: unknown): number | null => (numeral === null ? null : Number(numeral));
