/** Rows that only Postgres has, copied to ClickHouse as CSV. */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { CsvRows } from '../../infra/clickhouse/csv-rows.ts';
import { FIRST_AHEAD_TICK } from '../../schemas/ahead-runs.ts';
import type { CopiedTable, DatasetTable, GenerationTable } from '../../schemas/datasets/table.ts';
import type { ChainDay, PricedState } from './export-state.ts';

export interface CopiedRows {
  /** COPY takes no parameters. Inlining is safe: heights are numbers, and a chain's name has no quote. */
  readonly statement: string;
  readonly structure: string;
}

/** Blocks of a chain; null for all blocks of every chain. */
type Span = Pick<ChainDay, 'chain' | 'from' | 'to'> | null;

/** Returns null for a table of which ClickHouse has every column. `isClosed`: whether there is no row beyond the line. */
export function copiedRowsOf(
  table: DatasetTable,
  span: Span,
  priced: PricedState,
  isClosed = false,
): CopiedRows | null {
  if (table.store === 'postgres') return tableRows(table, span);
  return table.store === 'prices' && table.copied.length > 0 ? stampRows(table, span, priced, isClosed) : null;
}

function tableRows(table: CopiedTable, span: Span): CopiedRows {
  const columns = table.columns.map(({ name, copied }) => `${copied.sql} AS ${name}`).join(', ');
  const place = span ? `r.chain = '${span.chain}' AND r.${table.height} BETWEEN ${span.from} AND ${span.to}` : 'true';
  return {
    statement: `SELECT ${columns} FROM ${table.table} r JOIN blocks b ON b.chain = r.chain AND b.height = r.${table.height}
      WHERE ${place} AND ${table.where}`,
    structure: table.columns.map(({ name, copied }) => `${name} ${copied.type}`).join(', '),
  };
}

/** Stamps of the served generation and of the other one. */
function stampRows({ copied }: GenerationTable, span: Span, priced: PricedState, isClosed: boolean): CopiedRows {
  const generations = [priced.served, priced.other].flatMap((one) => (one ? [one.generation] : []));
  const columns = copied.map(({ name }) => `s.${name}`).join(', ');
  return {
    statement: `SELECT s.generation, s.chain, encode(s.txid, 'hex'), s.vout, ${columns} FROM stamps s
      WHERE s.generation IN (${generations}) ${span ? ofSpan(span, isClosed) : ''}`,
    structure: `generation UInt32, chain String, txid FixedString(64), vout UInt32, ${copied
      .map(({ name, type }) => `${name} ${type}`)
      .join(', ')}`,
  };
}

/** Ticks of a chain rise with its heights, so the ticks at both ends bound the span; `min` and `max` would search from the ends of all ticks. */
function ofSpan({ chain, from, to }: NonNullable<Span>, isClosed: boolean): string {
  const tick = (bound: string, order: 'ASC' | 'DESC') =>
    `(SELECT tick FROM price_ticks WHERE chain = '${chain}' AND height ${bound} ORDER BY height ${order} LIMIT 1)`;
  const ahead = isClosed ? '' : ` OR s.tick >= ${FIRST_AHEAD_TICK}`;
  return `AND s.chain = '${chain}' AND (s.tick BETWEEN ${tick(`>= ${from}`, 'ASC')} AND ${tick(`<= ${to}`, 'DESC')}${ahead})`;
}

/** Writes the rows into a new file of the folder. A failure removes the file and leaves the connection unusable, with unread rows. */
export async function copyOut(
  client: PoolClient,
  { statement, structure }: CopiedRows,
  folder: string,
  signal?: AbortSignal,
): Promise<CsvRows> {
  const file = join(folder, `${randomUUID()}.csv`);
  try {
    const copy = client.query(copyTo(`COPY (${statement}) TO STDOUT (FORMAT csv, NULL '\\N')`));
    await pipeline(copy, createWriteStream(file, { mode: 0o600 }), { ...(signal && { signal }) });
    return { file, structure };
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}
