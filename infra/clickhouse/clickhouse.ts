/** The ClickHouse of the program: the embedded engine or a server by URL, behind the same client and the same SQL. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClickHouseSettings } from '@clickhouse/client';
import type { RowReader, StoredRow } from '../row-reader.ts';
import { readBounded } from './bounded-rows.ts';
import { ClickHouseDamaged, ClickHouseSilent, clickhouseError } from './clickhouse-errors.ts';
import { type Client, settingsList } from './client.ts';
import { createConnectionLanes } from './connection-lanes.ts';
import { type CsvValue, csvChunks } from './csv.ts';
import { type CsvRows, createCsvTable, dropCsvTable, withCsvRows } from './csv-rows.ts';
import { createKnownDamage, type KnownDamage } from './known-damage.ts';
import { type ParquetWrite, writeParquetHere, writeParquetThere } from './parquet.ts';
import { readTabSeparated } from './tab-separated.ts';

export interface ClickHouse {
  /**
   * Returns rows without checking them; 64-bit integers and decimals are strings. `bounds` are settings for this statement only;
   * `max_result_bytes` also limits the text of the answer, which is longer than its columns if they are constants.
   * @throws ClickHouseAnswerTooLarge
   * @throws ClickHouseSilent shortly after `bounds.max_execution_time` or LONGEST_SECONDS, whatever ClickHouse does
   * @throws the reason of `signal`, which cancels the statement, once the statement has ended
   */
  query(
    sql: string,
    params?: Readonly<Record<string, unknown>>,
    bounds?: StatementBounds,
    signal?: AbortSignal,
  ): Promise<StoredRow[]>;
  /** Returns the rows of a query, each parsed by the reader. @throws TypeError for a row that the reader refuses */
  rows<Row>(reader: RowReader<Row>, ...asked: Parameters<ClickHouse['query']>): Promise<Row[]>;
  /** Returns rows in the format TabSeparated, which COPY of Postgres reads unchanged; chunks may end within a row. */
  tabSeparated(sql: string, params?: Readonly<Record<string, unknown>>): Promise<readonly Uint8Array[]>;
  /** Inserts rows in one statement; does nothing without rows. */
  insert(table: string, columns: readonly string[], rows: Iterable<readonly CsvValue[]>): Promise<void>;
  /** Runs a statement that returns no rows; resolves when it has taken effect. */
  command(sql: string, params?: Record<string, unknown>): Promise<void>;
  /** Writes the rows of a SELECT to a new file on this machine; after a failure the file may be missing or incomplete. */
  parquet(write: ParquetWrite): Promise<void>;
  /** Calls `work` with a FROM source for the rows of each file, valid while `work` runs; `signal` cancels the preparation. */
  withCsv<T>(
    files: readonly CsvRows[],
    work: (sources: readonly string[]) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
  /** Returns a view whose inserts and commands first wait for `before` and do not begin if it throws. */
  guarded(before: () => Promise<void>): ClickHouse;
  /** Returns the newest known damage, or null. */
  damage(): ClickHouseDamaged | null;
  /** True if only this process writes to it. */
  readonly isOwn: boolean;
  close(): Promise<void>;
}

export type StatementBounds = Readonly<Record<string, number>>;

/** A connection, which runs one statement at a time. */
export interface ConnectionLane {
  readonly client: Client;
}

/** The driver behind the facade. */
export interface Backend {
  readonly lanes: readonly ConnectionLane[];
  run<T>(lane: ConnectionLane, writes: boolean, work: (client: Client) => Promise<T>): Promise<T>;
  /** Asks ClickHouse to cancel an abandoned statement, without waiting for the result. */
  kill(id: string): void;
  readonly isOwn: boolean;
  close(): Promise<void>;
}

/** Enough for a mutation, which rewrites every part of a table, and for a statement that digests or restamps all of history. */
const LONGEST_SECONDS = 600;
/** Time for ClickHouse to refuse a slow statement itself before it counts as silent. */
const SILENCE_MS = 2_000;
/** KILL is repeated: it does not find a statement that was sent but that ClickHouse has not begun. */
const KILL_AGAIN_MS = 1_000;
/** How long to wait for a statement on a server after its caller has aborted: the server may be unreachable. */
const CALLED_OFF_MS = 3_000;

/** Settings of every connection. A delete is complete, on every replica of a server, when its statement returns. */
export const CONNECTION_SETTINGS = {
  max_execution_time: LONGEST_SECONDS,
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  mutations_sync: '2',
  lightweight_deletes_sync: '2',
  input_format_csv_empty_as_default: 0,
  // A stage deletes rows before it inserts them again after a crash, so they are not duplicates.
  insert_deduplicate: 0,
  async_insert: 0, // no insert may outlive its statement
  // The cache hides rows: docs/decisions/0061-candles.md
  use_query_condition_cache: 0,
} as const satisfies ClickHouseSettings;

/** Finds the statement by its query id where the connection passes one on, else by a comment in its text. */
export const killSql = (id: string): string =>
  `KILL QUERY WHERE query_id = '${id}' OR position(query, '${id}') > 0 ASYNC`;

interface Statement {
  readonly client: Client;
  readonly id: string;
  /** Aborts when the statement must end: it took too long, or its caller aborted. */
  readonly signal: AbortSignal;
  /** Aborts when the end of the statement is no longer waited for. */
  readonly late: AbortSignal;
}

/** Only an insert sends rows. */
type Kind = 'query' | 'insert' | 'command';

type Work<T> = (statement: Statement) => Promise<T>;

/**
 * After the time limit, `work` is not begun, and no longer awaited if it has begun; its lane is free again when it ends. After `caller`
 * aborts, `work` is not begun; if it has begun, it is killed and awaited (on a server for CALLED_OFF_MS), so that its lane is free again.
 */
function createStatements({ lanes, run, kill, isOwn }: Backend, damage: KnownDamage) {
  const onLane = createConnectionLanes(lanes);
  /** Statements that have begun and whose callers have aborted. */
  const calledOff = new Set<Promise<unknown>>();
  async function inTime<T>(kind: Kind, seconds: number, work: Work<T>, caller?: AbortSignal): Promise<T> {
    caller?.throwIfAborted();
    const id = randomUUID();
    const limitMs = seconds * 1000 + SILENCE_MS;
    const [waiting, ending] = [new AbortController(), new AbortController()];
    const { signal } = ending;
    const abandon = (reason: unknown) => {
      ending.abort(reason);
      waiting.abort(reason);
    };
    const timer = setTimeout(() => abandon(new ClickHouseSilent(limitMs)), limitMs);
    let isBegun = false;
    let again: NodeJS.Timeout | undefined;
    let inVain: NodeJS.Timeout | undefined;
    const callOff = () => {
      if (!isBegun) return abandon(caller?.reason);
      calledOff.add(ended);
      ending.abort(caller?.reason);
      again = setInterval(kill, KILL_AGAIN_MS, id);
      if (!isOwn) inVain = setTimeout(() => waiting.abort(caller?.reason), CALLED_OFF_MS);
    };
    const begin = async (lane: ConnectionLane): Promise<T> => {
      isBegun = true;
      try {
        return await run(lane, kind !== 'query', (client) => {
          signal.throwIfAborted();
          signal.addEventListener('abort', () => kill(id), { once: true });
          return work({ client, id, signal, late: waiting.signal });
        });
      } catch (error) {
        const translated = clickhouseError(error, kind === 'insert' ? 'rows' : 'no rows');
        if (translated instanceof ClickHouseDamaged) await damage.found(translated, (uuid) => tableOf(run, lane, uuid));
        throw caller?.aborted ? caller.reason : translated;
      }
    };
    const ended = onLane(begin, waiting.signal);
    caller?.addEventListener('abort', callOff);
    try {
      return await ended;
    } finally {
      calledOff.delete(ended);
      clearTimeout(timer);
      clearInterval(again);
      clearTimeout(inVain);
      caller?.removeEventListener('abort', callOff);
    }
  }
  return { inTime, calledOff };
}

export function createClickHouse(backend: Backend): ClickHouse {
  const { isOwn } = backend;
  const damage = createKnownDamage();
  const { inTime, calledOff } = createStatements(backend, damage);

  /** Aborting a connection does not end its statement. Only a server gets `late`: an embedded connection would look free too early. */
  const request = ({ id, late }: Statement) => ({ query_id: id, ...(!isOwn && { abort_signal: late }) });

  // A 'command', so that the embedded engine is asked afterwards whether the disk took the file.
  const parquet: ClickHouse['parquet'] = (write) =>
    inTime('command', write.bounds.max_execution_time ?? LONGEST_SECONDS, async (statement) => {
      const writeFile = isOwn ? writeParquetHere : writeParquetThere;
      await writeFile(statement.client, write, request(statement));
    });

  const withCsv: ClickHouse['withCsv'] = (files, work, caller) =>
    withCsvRows(files, isOwn, work, {
      create: (csv) => {
        const write = (statement: Statement) =>
          createCsvTable(statement.client, csv, request(statement), statement.signal);
        return inTime('insert', LONGEST_SECONDS, write, caller);
      },
      drop: (table) => inTime('insert', LONGEST_SECONDS, ({ client }) => dropCsvTable(client, table)),
    });

  const query: ClickHouse['query'] = async (sql, params, bounds, caller) => {
    damage.check(sql);
    const read = async (statement: Statement) => {
      const result = await statement.client.query({
        query: `/* ${statement.id} */ ${bounds ? `${sql} SETTINGS ${settingsList(bounds)}` : sql}`,
        format: 'JSONEachRow',
        ...request(statement),
        ...(params && { query_params: params }),
      });
      if (bounds?.max_result_bytes === undefined) return result.json<StoredRow>();
      return readBounded(result.stream<StoredRow>(), bounds.max_result_bytes, statement);
    };
    const rows = await inTime('query', bounds?.max_execution_time ?? LONGEST_SECONDS, read, caller);
    damage.read(sql);
    return rows;
  };

  const tabSeparated: ClickHouse['tabSeparated'] = async (sql, params) => {
    damage.check(sql);
    const text = await inTime('query', LONGEST_SECONDS, (statement) => {
      const asked = { ...request(statement), query_params: { ...params } };
      return readTabSeparated(statement.client, isOwn, `/* ${statement.id} */ ${sql}`, asked);
    });
    damage.read(sql);
    return text;
  };

  const writesAfter = (begun: (statement: Statement) => Promise<void>): Pick<ClickHouse, 'insert' | 'command'> => ({
    async insert(table, columns, rows) {
      const csv = csvChunks(rows)[Symbol.iterator]();
      const first = csv.next();
      if (first.done) return;
      await inTime('insert', LONGEST_SECONDS, async (statement) => {
        const chunks = [first.value];
        for (const chunk of csv) {
          chunks.push(chunk);
          await nextTurn(); // lets the process serve requests
        }
        await begun(statement);
        await statement.client.insert({
          table,
          columns: [...columns] as [string, ...string[]],
          values: Readable.from(chunks, { objectMode: false }),
          format: 'CSV',
          ...request(statement),
        });
      });
    },
    command: (sql, params) =>
      inTime('command', LONGEST_SECONDS, async (statement) => {
        await begun(statement);
        await statement.client.command({
          query: sql,
          ...request(statement),
          ...(params && { query_params: params }),
        });
      }),
  });

  const viewWith = (before: () => Promise<void>): ClickHouse => ({
    query,
    tabSeparated,
    parquet,
    withCsv,
    rows: async (reader, ...asked) => (await query(...asked)).map(reader),
    ...writesAfter(async ({ signal }) => {
      await before();
      signal.throwIfAborted();
    }),
    guarded: viewWith,
    damage: () => damage.newest(),
    isOwn,
    async close() {
      await Promise.allSettled(calledOff); // a KILL that was sent too early has to be repeated
      await backend.close();
    },
  });
  return viewWith(async () => undefined);
}

function tableOf(run: Backend['run'], lane: ConnectionLane, uuid: string): Promise<string | null> {
  return run(lane, false, async (client) => {
    const query = 'SELECT name FROM system.tables WHERE uuid = {uuid:UUID}';
    const result = await client.query({ query, format: 'JSONEachRow', query_params: { uuid } });
    return (await result.json<{ name: string }>())[0]?.name ?? null;
  });
}
