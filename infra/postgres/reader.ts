/**
 * Separate connections for reads. Statements are prepared once for each connection and limited in time, by the server and, in case it
 * does not answer, by the client.
 */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { columns, rowReader, type StoredRow } from '../row-reader.ts';
import { type Postgres, SILENCE_MS } from './postgres.ts';
import { unreachable } from './postgres-errors.ts';
import { readRow } from './read-rows.ts';

export interface Statement {
  /** Name of the prepared statement; undefined if it is parsed each time, for an unlimited set of texts. */
  readonly name: string | undefined;
  readonly text: string;
}

export interface PostgresReader {
  /** Runs one statement, which sees one snapshot. @throws PostgresTrouble, or the server's error */
  query(statement: Statement, values: readonly unknown[]): Promise<StoredRow[]>;
  /** Returns Postgres' names of the types of $1, $2 … */
  parameterTypes(text: string): Promise<readonly string[]>;
  /** All queries of `work` see the snapshot of `first`, a statement without values. */
  snapshot<T>(first: string, work: (first: StoredRow[], query: Query) => Promise<T>): Promise<T>;
  /** Number of queries and snapshots requested so far. */
  readonly asked: number;
  close(): Promise<void>;
}

export type Query = PostgresReader['query'];

export interface ReaderOptions {
  /** Connections of each of the two pools: for prepared statements, and for all others. */
  readonly maxConnections: number;
  /** Time limit of one statement. */
  readonly statementMs: number;
}

export const READER_NAME = 'verustream-reader';
const CONNECT_MS = 5_000;

const readTypes = rowReader({ types: columns.texts });

/** Returns a prepared statement whose name is unique to the text. */
export function prepared(text: string): Statement {
  return { name: createHash('sha256').update(text).digest('base64url').slice(0, 22), text };
}

export function openReader(postgres: Postgres, { maxConnections, statementMs }: ReaderOptions): PostgresReader {
  const openPool = (planning: 'auto' | 'force_generic_plan') => {
    const { options } = postgres.pool.options;
    const bounds = `-c default_transaction_read_only=on -c statement_timeout=${statementMs}`;
    const config = {
      max: maxConnections,
      application_name: READER_NAME,
      options: `${options} ${bounds} -c plan_cache_mode=${planning}`,
    };
    return postgres.openPool(config, { statementMs: statementMs + SILENCE_MS, connectMs: CONNECT_MS });
  };
  /** Plans prepared statements once for each connection: by default Postgres plans some of them each time, at three times the cost. */
  const preparedPool = openPool('force_generic_plan');
  const otherPool = openPool('auto');

  let asked = 0;

  /** Ends the read-only transaction in the background, so that the answer does not wait for it. */
  function end(client: pg.PoolClient): void {
    client.query('ROLLBACK').then(
      () => client.release(),
      (error: Error) => client.release(error),
    );
  }

  return {
    get asked() {
      return asked;
    },
    query({ name, text }, values) {
      asked += 1;
      const pool = name === undefined ? otherPool : preparedPool;
      return pool.query({ name, text, values: [...values] }).then(rowsOf, throwPostgresError);
    },
    async parameterTypes(text) {
      const client = await otherPool.connect().catch(throwPostgresError);
      try {
        await client.query(`PREPARE described AS ${text}`);
        const sql = "SELECT parameter_types::text[] AS types FROM pg_prepared_statements WHERE name = 'described'";
        const described = await readRow(client, readTypes, sql);
        await client.query('DEALLOCATE described');
        client.release();
        return described?.types ?? [];
      } catch (error) {
        client.release(true); // the name `described` may still be in use on this connection
        return throwPostgresError(error);
      }
    },
    async snapshot(sql, work) {
      asked += 1;
      const client = await otherPool.connect().catch(throwPostgresError);
      try {
        const begin = `BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ; ${sql}`;
        // Two statements in one call return two results, which the declared type does not cover.
        const [, first] = (await client
          .query(begin)
          .catch(throwPostgresError)) as unknown as pg.QueryResult<StoredRow>[];
        return await work(first?.rows ?? [], ({ name, text }, values) =>
          client.query({ name, text, values: [...values] }).then(rowsOf, throwPostgresError),
        );
      } finally {
        end(client);
      }
    },
    async close() {
      await Promise.all([preparedPool.end(), otherPool.end()]);
    },
  };
}

function rowsOf(result: pg.QueryResult<StoredRow>): StoredRow[] {
  return result.rows;
}

/** Any error that does not come from the server means that the connection could not be made or was lost. */
function throwPostgresError(cause: unknown): never {
  throw cause instanceof pg.DatabaseError ? cause : unreachable(cause);
}
