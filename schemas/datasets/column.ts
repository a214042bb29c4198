/** A column of a data-set table, and how it is made from a field of a fact. */
import { columnName, type Field } from '../facts/fields.ts';

export interface DatasetColumn {
  readonly name: string;
  /** ClickHouse type of the values, which determines the type in Parquet. */
  readonly type: string;
  /** The unit of a number; null when `text` is enough. */
  readonly unit: string | null;
  readonly text: string;
  /** SQL expression over the store's column. */
  readonly sql: string;
}

/** A column that Postgres passes on as CSV: the expression that it prints, and the type as which ClickHouse reads it. */
export interface CopiedColumn extends DatasetColumn {
  readonly copied: { readonly sql: string; readonly type: string };
}

type Sort = Exclude<Field['sort'], 'list' | 'detail' | 'amounts' | 'flows'>;

interface SortRule {
  readonly type: string;
  readonly unit: string | null;
  /** Expression over a column of ClickHouse. */
  readonly stored: (column: string) => string;
  /** Null when the column is read unchanged. */
  readonly copied: { readonly sql: (column: string) => string; readonly type: string; readonly read: string } | null;
}

export const SATOSHIS = '10^-8 of a coin';
/** Weights of reserves are stored like amounts, but they are fractions. */
const FRACTION = '10^-8 of the whole';
const asText = (column: string) => `toString(${column})`;
const asIs = (column: string) => column;
const inArray = {
  sql: (column: string) => `to_json(${column})::text`,
  type: 'String',
  read: "JSONExtract(?, 'Array(String)')",
};
const inJson = { sql: (column: string) => `${column}::text`, type: 'String', read: '?' };

const RULES: { readonly [S in Sort]: SortRule } = {
  text: { type: 'String', unit: null, stored: asText, copied: null },
  hash: {
    type: 'String',
    unit: null,
    stored: asText,
    copied: { sql: (column) => `encode(${column}, 'hex')`, type: 'String', read: '?' },
  },
  json: { type: 'String', unit: null, stored: asText, copied: inJson },
  choice: { type: 'String', unit: null, stored: asText, copied: null },
  choices: { type: 'Array(String)', unit: null, stored: asIs, copied: inArray },
  texts: { type: 'Array(String)', unit: null, stored: asIs, copied: inArray },
  numeral: { type: 'Float64', unit: null, stored: asIs, copied: null },
  integer: { type: 'UInt32', unit: null, stored: asIs, copied: null },
  seconds: {
    type: "DateTime('UTC')",
    unit: 'UTC, to the second',
    stored: asIs,
    copied: { sql: asIs, type: 'UInt32', read: "toDateTime(?, 'UTC')" },
  },
  satoshis: { type: 'Int64', unit: SATOSHIS, stored: asIs, copied: null },
  sum: { type: 'Decimal(38, 0)', unit: SATOSHIS, stored: asIs, copied: null },
};

const TEXTUAL = new Set<Field['sort']>(['text', 'hash', 'json', 'choice']);

/** Columns of a field as ClickHouse stores it. `path` may name the member of a detail; a list has one column for each of its arrays. */
export function storedColumns(path: string, field: Field, text: string): DatasetColumn[] {
  const name = path.split('.').map(columnName).join('_');
  if (field.sort === 'list') {
    return Object.entries(field.arrays).map(([array, member]) => {
      const { type, unit: ofSort } = ruleOf(member, field.members[member]);
      const unit = member === 'weight' ? FRACTION : ofSort;
      return { name: array, type: `Array(${type})`, unit, text: `${text}: ${columnName(member)} of each`, sql: array };
    });
  }
  const rule = ruleOf(path, field);
  // ClickHouse holds no null in a column of text.
  const sql = field.nullable && TEXTUAL.has(field.sort) ? `nullIf(${rule.stored(name)}, '')` : rule.stored(name);
  return [{ name, type: typeOf(rule, field), unit: rule.unit, text, sql }];
}

/** Columns of a field as Postgres stores it. A list is JSON. */
export function copiedColumns(path: string, field: Field, text: string): CopiedColumn[] {
  const name = columnName(path);
  const from = `r.${name}`;
  if (field.sort === 'list') {
    return [{ name, type: 'String', unit: null, text, sql: name, copied: { sql: `${from}::text`, type: 'String' } }];
  }
  const rule = ruleOf(path, field);
  const { sql, type, read } = rule.copied ?? { sql: asIs, type: bareType(rule, field), read: '?' };
  const copied = { sql: sql(from), type: field.nullable ? `Nullable(${type})` : type };
  return [{ name, type: typeOf(rule, field), unit: rule.unit, text, sql: read.replace('?', name), copied }];
}

function ruleOf(path: string, field: Field | undefined): SortRule {
  const rule = field && RULES[field.sort as Sort];
  if (!rule) throw new TypeError(`no column of a data set fits ${path}`);
  return rule;
}

function typeOf(rule: SortRule, field: Field): string {
  const type = bareType(rule, field);
  return field.nullable && !type.startsWith('Array') ? `Nullable(${type})` : type;
}

function bareType({ type }: SortRule, field: Field): string {
  if (field.sort !== 'integer') return type;
  if (field.wide) return 'Int64';
  return field.min < 0 ? 'Int32' : 'UInt32';
}
