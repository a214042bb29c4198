/** Ends all stored rows that a batch ends, in one statement. */
import type { PoolClient } from 'pg';
import type { FactColumn } from '../../../infra/postgres/fact-columns.ts';
import { PermanentError } from '../../../schemas/errors.ts';
import type { RowEnd } from './collect-rows.ts';
import { listOf, listParam } from './list-param.ts';
import type { EndingTable, KeyValue, VersionTable } from './table.ts';

/** The store lacks a row that a block ends. */
export class EndWithoutRow extends PermanentError {
  constructor(table: string, chain: string, missing: number) {
    super(
      'end_without_row',
      `${missing} rows of ${table} that a block of ${chain} ends are not in the store or have ended already: rebuild the stores of this chain from its log.`,
    );
  }
}

/** @throws EndWithoutRow when a row of an ending table does not exist; the first version of a key has no row to end */
export async function endRows(
  client: PoolClient,
  table: VersionTable | EndingTable,
  chain: string,
  ends: readonly RowEnd[],
): Promise<void> {
  if (ends.length === 0) return;
  const keys = table.key;
  const values = table.life === 'ending' ? table.endColumns : [];
  const parameters = [
    chain,
    listParam(ends, ({ height }) => height),
    ...keys.map((_, index) => listParam(ends, ({ key }) => key[index])),
    ...values.map(({ field }) => listParam(ends, ({ by }) => by?.[field] as KeyValue)),
  ];
  const { rowCount } = await client.query(endNewest(table, keys, values), parameters);
  if (table.life === 'ending' && rowCount !== ends.length) {
    throw new EndWithoutRow(table.name, chain, ends.length - (rowCount ?? 0));
  }
}

/** SQL of the parameter lists as a table; bytea values are passed as hex. */
function endedList(columns: readonly FactColumn[]): string {
  const arrays = columns.map(({ type }, index) => `${listOf(`$${index + 3}`)}::${type === 'bytea' ? 'text' : type}[]`);
  return `unnest(${listOf('$2')}::integer[], ${arrays.join(', ')}) AS ended(height, ${columns.map(({ name }) => name).join(', ')})`;
}

const ended = ({ name, type }: FactColumn): string =>
  type === 'bytea' ? `decode(ended.${name}, 'hex')` : `ended.${name}`;
const sameKey = (row: string, keys: readonly FactColumn[]): string =>
  [`${row}.chain = $1`, ...keys.map((key) => `${row}.${key.name} = ${ended(key)}`)].join(' AND ');

/**
 * The newest row is the last of its key in the order of the primary key. Each is looked up on its own and then updated by its ctid: a
 * join with the list would scan a whole table that has no statistics.
 */
function endNewest(
  table: VersionTable | EndingTable,
  keys: readonly FactColumn[],
  values: readonly FactColumn[],
): string {
  const order = [
    ...keys.map(({ name }) => name),
    ...(table.life === 'versions' ? ['from_height', ...table.order] : []),
  ];
  const sets = ['to_height = ended.height', ...values.map((value) => `${value.name} = ${ended(value)}`)];
  return `UPDATE ${table.name} t SET ${sets.join(', ')} FROM ${endedList([...keys, ...values])},
    LATERAL (SELECT v.ctid AS place FROM ${table.name} v WHERE ${sameKey('v', keys)}
      ORDER BY v.chain DESC, ${order.map((name) => `v.${name} DESC`).join(', ')} LIMIT 1) newest
    WHERE t.ctid = newest.place AND t.to_height IS NULL`;
}
