/** A table of the data set, made from the definition of a fact. */
import { type Definition, type FieldHistory, isMade } from '../facts/definition.ts';
import { type Field, type Fields, fieldAt } from '../facts/fields.ts';
import { type CopiedColumn, copiedColumns, type DatasetColumn, storedColumns } from './column.ts';

interface TableBase<C extends DatasetColumn = DatasetColumn> {
  readonly name: string;
  readonly summary: string;
  /** When a row is final, for the docs. */
  readonly final: string;
  readonly columns: readonly C[];
  /** Columns that order the rows of a file and identify each row. */
  readonly order: readonly string[];
}

/** A table whose rows are in ClickHouse. */
export interface StoredTable extends TableBase {
  readonly store: 'clickhouse';
  readonly table: string;
}
/** A table whose rows are only in Postgres. */
export interface CopiedTable extends TableBase<CopiedColumn> {
  readonly store: 'postgres';
  readonly table: string;
  /** Column of the height that a row belongs to. */
  readonly height: 'height' | 'from_height';
  /** SQL condition on `r`, the row. */
  readonly where: string;
}
/** A table of stage `price`, with separate rows for each generation. */
export interface GenerationTable extends TableBase {
  readonly store: 'prices';
  readonly table: 'prices' | 'conversions';
  readonly height: 'height' | 'import_height';
  /** Columns of the table in ClickHouse, and of its rows beyond the line. */
  readonly stored: readonly string[];
  /** Columns of the row that only Postgres has, in `stamps`. */
  readonly copied: readonly { readonly name: string; readonly type: string }[];
  /** Columns that the other generation adds to the same row; `column` is the column's name there. */
  readonly other: readonly { readonly name: string; readonly column: string }[];
}
export type DatasetTable = StoredTable | CopiedTable | GenerationTable;

type AnyDefinition = Pick<Definition, 'fields' | 'clickhouse' | 'postgres'>;
type Texts<F extends Fields> = { readonly [K in keyof F]?: string } & Readonly<Record<string, string>>;
type Described<C extends DatasetColumn> = Omit<TableBase<C>, 'columns' | 'final'>;

const FINAL = 'With its block, once `finalityDepth` further blocks follow it.';
const CHAIN: DatasetColumn = {
  name: 'chain',
  type: 'String',
  unit: null,
  text: 'Name of the chain.',
  sql: 'toString(chain)',
};
const HEIGHT: DatasetColumn = {
  name: 'height',
  type: 'UInt32',
  unit: null,
  text: 'Height of the block.',
  sql: 'height',
};
const TIME: DatasetColumn = {
  name: 'time',
  type: "DateTime('UTC')",
  unit: 'UTC, to the second',
  text: 'Time in the block; it may be earlier than that of the block before.',
  sql: 'time',
};

export const ROW_PLACE = { chain: CHAIN, height: HEIGHT, time: TIME } as const;

/** Makes a table of every column that ClickHouse has for the fact. @throws TypeError when a field has no text */
export function storedTable<F extends Fields>(
  definition: AnyDefinition & { readonly fields: F },
  table: string,
  texts: Texts<F>,
  described: Described<DatasetColumn>,
): StoredTable {
  const history = definition.clickhouse.find((one) => one.table === table);
  if (!history) throw new TypeError(`no fact has a history in ${table}`);
  const own = isMade(history)
    ? history.columns.filter((name) => name !== 'time').map((name) => madeColumn(definition, name, texts))
    : (history as FieldHistory).fields
        .filter((path) => path !== 'time')
        .flatMap((path) => storedColumns(path, fieldAt(definition.fields, path), textOf(texts, path)));
  return { ...described, final: FINAL, store: 'clickhouse', table, columns: [CHAIN, HEIGHT, TIME, ...own] };
}

/** Makes a table of every field of the fact. @throws TypeError when a field has no text */
export function copiedTable<F extends Fields>(
  definition: AnyDefinition & { readonly fields: F },
  texts: Texts<F>,
  described: Described<CopiedColumn> & { readonly where?: string },
): CopiedTable {
  const { postgres, fields } = definition;
  if (!postgres || postgres.life === 'end') throw new TypeError(`Postgres has no rows of ${described.name}`);
  const height = postgres.life === 'event' ? 'height' : 'from_height';
  const own = Object.entries(fields).flatMap(([name, field]) => copiedColumns(name, field, textOf(texts, name)));
  const place: CopiedColumn[] = [
    { ...CHAIN, sql: 'chain', copied: { sql: 'r.chain', type: 'String' } },
    { ...HEIGHT, copied: { sql: `r.${height}`, type: 'UInt32' } },
    { ...TIME, sql: "toDateTime(time, 'UTC')", copied: { sql: 'b.time', type: 'UInt32' } },
  ];
  const { where = 'true', ...table } = described;
  return {
    ...table,
    final: FINAL,
    store: 'postgres',
    table: postgres.table,
    height,
    where,
    columns: [...place, ...own],
  };
}

/** A column that is made by code contains the field of the same name. */
function madeColumn({ fields }: AnyDefinition, name: string, texts: Readonly<Record<string, string>>): DatasetColumn {
  const path = name.replace(/_[a-z]/g, ([, letter = '']) => letter.toUpperCase());
  const field = fields[path] ?? ({ sort: 'text', nullable: false } satisfies Pick<Field, 'sort' | 'nullable'> as Field);
  const [column] = storedColumns(path, field, textOf(texts, path));
  if (!column) throw new TypeError(`no column ${name}`);
  return column;
}

function textOf(texts: Readonly<Record<string, string | undefined>>, path: string): string {
  const text = texts[path];
  if (text === undefined) throw new TypeError(`the data set does not describe ${path}`);
  return text;
}
