/** Bulk insert by COPY in text format: the fastest way into Postgres, and atomic. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

export interface Hex {
  readonly hex: string;
}
/** JSON text for a json or jsonb column. */
export interface Json {
  readonly json: string;
}
export type CopyValue = string | number | bigint | boolean | null | readonly string[] | Hex | Json;

const CHUNK_BYTES = 1 << 16;

/** Inserts rows in the caller's transaction and returns their number. */
export async function copyRows(
  client: PoolClient,
  table: string,
  columns: readonly string[],
  rows: Iterable<readonly CopyValue[]>,
): Promise<number> {
  return copyText(client, table, columns, chunks(rows));
}

/** Inserts rows that are already in the text format of COPY; chunks may end within a row. */
export async function copyText(
  client: PoolClient,
  table: string,
  columns: readonly string[],
  text: Iterable<Uint8Array>,
): Promise<number> {
  const sink = client.query(copyFrom(`COPY ${table} (${columns.join(', ')}) FROM STDIN`));
  await pipeline(Readable.from(text, { objectMode: false }), sink);
  return sink.rowCount;
}

function* chunks(rows: Iterable<readonly CopyValue[]>): Iterable<Buffer> {
  let text = '';
  for (const row of rows) {
    let separator = '';
    for (const value of row) {
      text += separator + valueText(value);
      separator = '\t';
    }
    text += '\n';
    if (text.length >= CHUNK_BYTES) {
      yield Buffer.from(text);
      text = '';
    }
  }
  if (text) yield Buffer.from(text);
}

function valueText(value: CopyValue): string {
  if (value === null) return '\\N';
  if (typeof value === 'string') return escapeCopy(value);
  if (typeof value !== 'object') return String(value);
  if ('hex' in value) return `\\\\x${value.hex}`;
  if ('json' in value) return escapeCopy(value.json);
  return escapeCopy(`{${value.map((item) => `"${item.replace(/["\\]/g, '\\$&')}"`).join(',')}}`);
}

const SPECIAL = /[\\\n\r\t]/;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escapeCopy(text: string): string {
  return SPECIAL.test(text) ? text.replace(/[\\\n\r\t]/g, (c) => ESCAPES[c] ?? c) : text;
}
