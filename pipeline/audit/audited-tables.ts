/**
 * Rows that both stores have, each as one line of text that both print identically. Parameters in Postgres: $1 is the chain, $2 … $3
 * the heights, $4 the generation; in ClickHouse: {chain}, {low}, {high}, {generation}, {tick} and {native}.
 */
import { countsAsRefundedSql } from '../../domain/stamps.ts';

export interface StoreRows {
  /** SQL of the line, a text. */
  readonly line: string;
  readonly height: string;
  /** SQL of FROM and WHERE. */
  readonly from: string;
}

export interface AuditedTable {
  readonly name: string;
  readonly postgres: StoreRows;
  readonly clickhouse: StoreRows;
}

/** A column with the same name in both stores, or an expression for each store. */
export type Column = string | readonly [postgres: string, clickhouse: string];

interface Definition {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Expressions for Postgres and ClickHouse. */
  readonly height: readonly [string, string];
  readonly from: readonly [string, string];
}

export function auditedTable({ name, columns, height, from }: Definition): AuditedTable {
  const postgres = columns.map((column) => `coalesce((${typeof column === 'string' ? column : column[0]})::text, '')`);
  const clickhouse = columns.map(
    (column) => `ifNull(toString(${typeof column === 'string' ? column : column[1]}), '')`,
  );
  return {
    name,
    postgres: { line: `concat_ws('|', ${postgres.join(', ')})`, height: height[0], from: from[0] },
    clickhouse: { line: `concatWithSeparator('|', ${clickhouse.join(', ')})`, height: height[1], from: from[1] },
  };
}

export const postgresRange = (name: string, height: string) =>
  `FROM ${name} WHERE chain = $1 AND ${height} BETWEEN $2 AND $3`;
export const clickhouseRange = (name: string, height = 'height') =>
  `FROM ${name} WHERE chain = {chain:String} AND ${height} BETWEEN {low:UInt32} AND {high:UInt32}`;

export const hex = (column: string): Column => [`encode(${column}, 'hex')`, column];
const usd = (column: string): Column => [
  `s.${column}`,
  `if(isNull(${column}), '', toDecimalString(assumeNotNull(${column}), 38))`,
];

/**
 * Settled conversions with their stamps, as the import left them: a stamp is at the tick of the import's block. A stamp without its
 * transfer is also a line.
 */
export const STAMP_TABLES: readonly AuditedTable[] = [
  auditedTable({
    name: 'stamped conversions',
    columns: [
      ["encode(s.txid, 'hex')", 'txid'],
      ['s.vout', 'vout'],
      ['p.height', 'import_height'],
      ['t.kind', 'kind'],
      [`CASE WHEN ${countsAsRefundedSql('t.status', 's.reason')} THEN 'refunded' ELSE t.status END`, 'status'],
      ['t.from_currency_id', 'from_currency_id'],
      ['t.to_currency_id', 'to_currency_id'],
      ['t.via_currency_id', 'via_currency_id'],
      ['t.import_currency_id', 'basket_id'],
      ['t.amount_in', 'amount_in'],
      ['t.amount_out', 'amount_out'],
      ['t.conversion_fee', 'conversion_fee'],
      ['t.source', 'source'],
      ['t.destination', 'destination'],
      ['t.request_height', 'request_height'],
      ['t.import_time', 'toUnixTimestamp(time)'],
      usd('from_usd'),
      usd('to_usd'),
      usd('usd_value'),
      ['s.rule', 'rule'],
      ['s.regime', 'regime'],
      ['s.diverged', 'diverged'],
      ['s.provisional', 'provisional'],
      ['s.reason', 'reason'],
    ],
    height: ['p.height', 'import_height'],
    from: [
      `FROM price_ticks p JOIN stamps s ON s.tick = p.tick AND s.chain = p.chain AND s.generation = $4
       LEFT JOIN transfers t ON t.chain = s.chain AND t.txid = s.txid AND t.vout = s.vout
         AND t.from_height = p.height AND t.import_height = p.height
       WHERE p.chain = $1 AND p.height BETWEEN $2 AND $3`,
      `${clickhouseRange('conversions', 'import_height')} AND generation = {generation:UInt32} AND tick <= {tick:UInt64}`,
    ],
  }),
];
