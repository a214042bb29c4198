/** One ClickHouse for the program: embedded engine or server by URL, behind the same client and the same SQL. */
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClickHouseSettings, createClient } from '@clickhouse/client';
import { PermanentError, RetryableError } from '../../schemas/errors.ts';
import { type CsvValue, csvChunks } from './csv.ts';

export interface ClickHouse {
  /** Rows as objects; 64-bit integers and decimals arrive as strings. */
  query<T>(sql: string, params?: Record<string, unknown>, settings?: ClickHouseSettings): Promise<T[]>;
  /** Inserts rows in one statement; nothing happens without rows. */
  insert(table: string, columns: readonly string[], rows: Iterable<readonly CsvValue[]>): Promise<void>;
  /** Statement without an answer; resolves when it has taken effect. */
  command(sql: string, params?: Record<string, unknown>): Promise<void>;
  close(): Promise<void>;
}

export type Client = ReturnType<typeof createClient>;

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

/** Deletes are complete, on every replica, when the statement returns. */
const SETTINGS: ClickHouseSettings = {
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  mutations_sync: '2',
  lightweight_deletes_sync: '2',
  input_format_csv_empty_as_default: 0,
};

/**
 * `clients` run in parallel; each runs one statement at a time when the engine is embedded. `afterFailure` is awaited before
 * a client whose statement failed is used again.
 */
export function createClickHouse(
  clients: readonly Client[],
  afterFailure?: (client: Client) => Promise<void>,
): ClickHouse {
  const idle = [...clients];
  const waiting: ((client: Client) => void)[] = [];

  async function withClient<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = idle.pop() ?? (await new Promise<Client>((resolve) => waiting.push(resolve)));
    try {
      return await work(client);
    } catch (error) {
      await afterFailure?.(client);
      throw clickhouseError(error);
    } finally {
      const next = waiting.shift();
      if (next) next(client);
      else idle.push(client);
    }
  }

  return {
    query: (sql, params, settings) =>
      withClient(async (client) => {
        const result = await client.query({
          query: sql,
          format: 'JSONEachRow',
          clickhouse_settings: { ...SETTINGS, ...settings },
          ...(params && { query_params: params }),
        });
        return result.json();
      }),
    insert: (table, columns, rows) =>
      withClient(async (client) => {
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
          clickhouse_settings: SETTINGS,
        });
      }),
    command: (sql, params) =>
      withClient(async (client) => {
        await client.command({ query: sql, clickhouse_settings: SETTINGS, ...(params && { query_params: params }) });
      }),
    async close() {
      for (const client of clients) await client.close();
    },
  };
}

const AUTHENTICATION_FAILED = '516';
const UNKNOWN_DATABASE = '81';
/** Time, queries at once, network, memory, read-only replica, disk space, parts, insert of unknown outcome, Keeper. */
const PASSING = new Set(['159', '160', '202', '209', '210', '241', '242', '243', '252', '319', '999']);

/** By code and not by class: the embedded engine throws the class of another copy of the client library. */
function clickhouseError(error: unknown): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  if (!(error instanceof Error) || typeof code !== 'string') return error;
  const message = oneLine(error.message || code);
  if (code === AUTHENTICATION_FAILED || code === UNKNOWN_DATABASE) {
    return new ClickHouseRefused(`ClickHouse refused the connection: ${message}. Check CLICKHOUSE_URL.`, error);
  }
  if (PASSING.has(code)) return new ClickHouseOverloaded(`ClickHouse cannot do it now: ${message}`, error);
  if (/^(ECONN|ENOTFOUND|EPIPE|ETIMEDOUT|EHOSTUNREACH|EAI_AGAIN|UND_ERR)/.test(code)) {
    return new ClickHouseUnreachable(`ClickHouse cannot be reached: ${message}. Check CLICKHOUSE_URL.`, error);
  }
  return error;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
