/** One ClickHouse for the program: embedded engine or server by URL, behind the same client and the same SQL. */
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClickHouseSettings, createClient } from '@clickhouse/client';
import { PermanentError, RetryableError } from '../../schemas/errors.ts';
import { type CsvValue, csvChunks } from './csv.ts';

export interface ClickHouse {
  /** Rows as objects; 64-bit integers and decimals arrive as strings. `bounds` are settings of this statement alone. */
  query<T>(sql: string, params?: Record<string, unknown>, bounds?: Readonly<Record<string, number>>): Promise<T[]>;
  /** Inserts rows in one statement; nothing happens without rows. */
  insert(table: string, columns: readonly string[], rows: Iterable<readonly CsvValue[]>): Promise<void>;
  /** Statement without an answer; resolves when it has taken effect. */
  command(sql: string, params?: Record<string, unknown>): Promise<void>;
  close(): Promise<void>;
}

export type Client = ReturnType<typeof createClient>;

/** What one statement at a time runs on. */
export interface Lane {
  readonly client: Client;
}

/** Runs a statement on a lane. */
export type Run = <T>(lane: Lane, writes: boolean, work: (client: Client) => Promise<T>) => Promise<T>;

export class ClickHouseUnreachable extends RetryableError {
  constructor(message: string, cause: unknown) {
    super('clickhouse_unreachable', message, { cause });
  }
}

/** It answers, and cannot do it now: no disk space, no memory, too much else to do, its Keeper away. */
export class ClickHouseOverloaded extends RetryableError {
  constructor(message: string, cause: unknown) {
    super('clickhouse_overloaded', message, { cause });
  }
}

export class ClickHouseRefused extends PermanentError {
  constructor(message: string, cause: unknown) {
    super('clickhouse_refused', message, { cause });
  }
}

/** What was stored is not whole. Statements that need it fail, so nothing wrong is answered. */
export class ClickHouseDamaged extends PermanentError {
  constructor(what: string, cause: unknown) {
    super(
      'clickhouse_damaged',
      `${what}. The log holds everything: stop, remove the folders clickhouse and postgres of DATA_DIR (of servers, their ` +
        'databases), and start: both are built again from it.',
      { cause },
    );
  }
}

/** Of every connection. Deletes are complete, on every replica, when the statement returns. */
export const CONNECTION_SETTINGS = {
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  mutations_sync: '2',
  lightweight_deletes_sync: '2',
  input_format_csv_empty_as_default: 0,
} as const satisfies ClickHouseSettings;

/** As SET and a statement take them. */
export function settingsList(settings: Readonly<Record<string, string | number>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${typeof value === 'number' ? value : `'${value}'`}`)
    .join(', ');
}

/** The lanes run in parallel. */
export function createClickHouse(lanes: readonly Lane[], run: Run, close: () => Promise<void>): ClickHouse {
  const idle = [...lanes];
  const waiting: ((lane: Lane) => void)[] = [];

  async function withLane<T>(writes: boolean, work: (client: Client) => Promise<T>): Promise<T> {
    const lane = idle.pop() ?? (await new Promise<Lane>((resolve) => waiting.push(resolve)));
    try {
      return await run(lane, writes, work);
    } catch (error) {
      throw clickhouseError(error);
    } finally {
      const next = waiting.shift();
      if (next) next(lane);
      else idle.push(lane);
    }
  }

  return {
    query: (sql, params, bounds) =>
      withLane(false, async (client) => {
        const result = await client.query({
          query: bounds ? `${sql} SETTINGS ${settingsList(bounds)}` : sql,
          format: 'JSONEachRow',
          ...(params && { query_params: params }),
        });
        return result.json();
      }),
    insert: (table, columns, rows) =>
      withLane(true, async (client) => {
        const chunks: Buffer[] = [];
        for (const chunk of csvChunks(rows)) {
          chunks.push(chunk);
          await nextTurn(); // the process also serves
        }
        if (chunks.length === 0) return;
        await client.insert({
          table,
          columns: [...columns] as [string, ...string[]],
          values: Readable.from(chunks, { objectMode: false }),
          format: 'CSV',
        });
      }),
    command: (sql, params) =>
      withLane(true, async (client) => {
        await client.command({ query: sql, ...(params && { query_params: params }) });
      }),
    close,
  };
}

const AUTHENTICATION_FAILED = '516';
const UNKNOWN_DATABASE = '81';
/** Writing, time, queries at once, network, memory, read-only replica, disk space, parts, insert of unknown outcome, Keeper. */
const PASSING = new Set(['75', '159', '160', '202', '209', '210', '241', '242', '243', '252', '319', '999']);

/** By code and not by class: the embedded engine throws the class of another copy of the client library. */
function clickhouseError(error: unknown): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  if (!(error instanceof Error) || typeof code !== 'string') return error;
  const message = oneLine(error.message || code);
  if (code === AUTHENTICATION_FAILED || code === UNKNOWN_DATABASE) {
    return new ClickHouseRefused(`ClickHouse refused the connection: ${message}. Check CLICKHOUSE_URL.`, error);
  }
  if (PASSING.has(code)) return new ClickHouseOverloaded(`ClickHouse cannot do it now: ${message}`, error);
  if (isDamage(code, message)) return new ClickHouseDamaged(`ClickHouse cannot read what it stored: ${message}`, error);
  if (/^(ECONN|ENOTFOUND|EPIPE|ETIMEDOUT|EHOSTUNREACH|EAI_AGAIN|UND_ERR)/.test(code)) {
    return new ClickHouseUnreachable(`ClickHouse cannot be reached: ${message}. Check CLICKHOUSE_URL.`, error);
  }
  return error;
}

/** Corrupted data, a wrong checksum, or an end before the end. */
function isDamage(code: string, message: string): boolean {
  return (
    code === '246' || code === '40' || (code === '33' && /while reading (from part|or decompressing)/i.test(message))
  );
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
