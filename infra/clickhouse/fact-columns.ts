/** The columns of a fact in ClickHouse: how a value of each sort is written. */
import { columnName, type Field, type Fields, type Sort } from '../../schemas/facts/fields.ts';
import type { CsvValue } from './csv.ts';

type Values = Readonly<Record<string, unknown>>;

export interface HistoryColumn {
  readonly name: string;
  of(fact: Values): CsvValue;
}

/** What stands for null where a column has none: text columns are not Nullable, which would cost a mask a column. */
const NULLS: { readonly [S in Exclude<Sort, 'list' | 'detail' | 'amounts' | 'flows' | 'sum'>]: '' | null } = {
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

/** Of the field at a path: `stake.amount` is the amount in the detail `stake`. A list has several. */
export function historyColumns(fields: Fields, path: string): HistoryColumn[] {
  const [name = '', member] = path.split('.');
  const field = fields[name];
  if (!field) throw new TypeError(`a history names the field ${path}, which its fact does not have`);
  if (member === undefined) return ofField(name, field);
  if (field.sort !== 'detail') throw new TypeError(`${name} has no members: a history names ${path}`);
  return historyColumns(field.members, member).map((column) => ({
    ...column,
    name: `${columnName(name)}_${column.name}`,
    of(fact) {
      const held = fact[name];
      return held === null ? null : column.of(held as Values);
    },
  }));
}

function ofField(name: string, field: Field): HistoryColumn[] {
  const column = columnName(name);
  switch (field.sort) {
    case 'list':
      return Object.entries(field.arrays).map(([array, member]) => ({
        name: array,
        of: (fact) => (fact[name] as readonly Values[]).map((item) => item[member] as string | bigint),
      }));
    case 'numeral':
      return [{ name: column, of: (fact) => Number(fact[name]) }];
    case 'amounts':
    case 'flows':
    case 'sum':
    case 'detail':
      throw new TypeError(`${name} fits no column of ClickHouse: give its fact a history with rows of its own`);
    default: {
      const none = NULLS[field.sort];
      if (!field.nullable || none === null) return [{ name: column, of: (fact) => fact[name] as CsvValue }];
      return [{ name: column, of: (fact) => (fact[name] as CsvValue) ?? none }];
    }
  }
}
