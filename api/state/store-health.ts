/** Probes the stores; a store that does not answer in time is reported as silent. */
import type { Logger } from '../../infra/logger.ts';
import { postgresTrouble } from '../../infra/postgres/postgres-errors.ts';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { type PostgresReader, prepared } from '../../infra/postgres/reader.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { shared } from '../../infra/shared.ts';
import type { Stores } from '../../infra/stores.ts';
import { withTimeLimit } from '../../infra/time-limit.ts';
import { VerustreamError } from '../../schemas/errors.ts';

export interface ProbedStores extends Pick<Stores, 'postgres' | 'clickhouse'> {
  /** The connections on which requests read Postgres. */
  readonly reader: Pick<PostgresReader, 'query' | 'asked'>;
}

/** Fault of a store: a code of docs/errors.md. */
export interface StoreFault {
  readonly store: 'postgres' | 'clickhouse';
  readonly code: string;
  /** Public text: the error's own message may reveal internals, so it goes to the log only. */
  readonly detail: string;
}

const LIMIT_MS = 2_000;
/** A timeout noticed this much too late is the fault of this process, which was too busy to read the answer. */
const LATE_MS = 50;
/** Request connections that answered and have not been used since are probed again after this time. */
const QUIET_READERS_MS = 5_000;
const FAULTS: readonly Omit<StoreFault, 'store'>[] = [
  { code: 'postgres_unreachable', detail: 'Postgres does not answer' },
  { code: 'postgres_starting', detail: 'Postgres is starting, recovering or shutting down' },
  { code: 'postgres_full', detail: 'Postgres has no connection left' },
  { code: 'postgres_read_only', detail: 'Postgres takes no writes: it is a standby, or is set to read-only' },
  { code: 'postgres_overloaded', detail: 'Postgres lacks disk space or memory' },
  { code: 'postgres_readers_silent', detail: 'all Postgres connections for requests are busy or do not answer' },
  { code: 'clickhouse_unreachable', detail: 'ClickHouse cannot be reached' },
  { code: 'clickhouse_silent', detail: 'ClickHouse does not answer in time' },
  { code: 'clickhouse_overloaded', detail: 'ClickHouse lacks disk space, memory or time' },
  { code: 'clickhouse_damaged', detail: 'ClickHouse cannot read all that it stored' },
];

const UNKNOWN = { code: 'store_failed', detail: 'a store has failed; the log of the service says how' };

/** One probe serves all callers that arrive during it. */
export function createStoreHealth(stores: ProbedStores, logger: Logger): () => Promise<readonly StoreFault[]> {
  let known: readonly string[] = [];
  /** When the readers last answered, and how many queries they had had by then. */
  let readersWell = { at: Number.NEGATIVE_INFINITY, asked: 0 };

  function codeOf(err: unknown): string {
    const trouble = postgresTrouble(err) ?? err;
    const code = trouble instanceof VerustreamError ? trouble.code : UNKNOWN.code;
    // Logs each trouble only once, so that repeated probes do not fill the log.
    if (!known.includes(code)) logger.warn({ err }, faultOf(code).detail);
    return code;
  }

  async function probeReaders(): Promise<string | null> {
    const { at, asked } = readersWell;
    if (stores.reader.asked === asked && performance.now() - at < QUIET_READERS_MS) return null;
    const before = stores.reader.asked;
    const code = await inTime(() => askReaders(stores).catch(codeOf), 'postgres_readers_silent');
    const isWell = code === null;
    readersWell = { at: isWell ? performance.now() : Number.NEGATIVE_INFINITY, asked: before + READER_PROBES.length };
    return code;
  }

  return shared(async () => {
    const [postgres, clickhouse] = await Promise.all([
      inTime(() => askPostgres(stores).catch(codeOf), 'postgres_unreachable'),
      inTime(() => askClickHouse(stores).catch(codeOf), 'clickhouse_silent'),
    ]);
    // Report only one fault of Postgres: without the server, the readers have no fault of their own.
    const readers = postgres ?? (await probeReaders());
    known = [readers, clickhouse].filter((code) => code !== null);
    return [...faultsOf('postgres', readers), ...faultsOf('clickhouse', clickhouse)];
  });
}

const readHeld = rowReader({ held: columns.boolean });

/** A standby or a read-only server answers too, so the probe asks whether it accepts writes. */
async function askPostgres({ postgres }: ProbedStores): Promise<string | null> {
  const query = {
    text: "SELECT current_setting('transaction_read_only')::boolean AS held",
    query_timeout: 2 * LIMIT_MS, // cancels the query after inTime() has stopped waiting
  };
  return (await readRow(postgres.pool, readHeld, query))?.held ? 'postgres_read_only' : null;
}

export const PROBE = prepared('SELECT 1');

/** One probe for each pool: for prepared statements, and for all others. */
const READER_PROBES = [PROBE, { ...PROBE, name: undefined }];

async function askReaders({ reader }: ProbedStores): Promise<null> {
  await Promise.all(READER_PROBES.map((probe) => reader.query(probe, [])));
  return null;
}

async function askClickHouse({ clickhouse }: ProbedStores): Promise<string | null> {
  await clickhouse.query('SELECT 1', {}, { max_execution_time: LIMIT_MS / 1000 });
  return clickhouse.damage()?.code ?? null;
}

/** A timeout that was noticed too late proves nothing about the store, so it is asked once more. */
async function inTime(ask: () => Promise<string | null>, silent: string, isLast = false): Promise<string | null> {
  const began = performance.now();
  const late = new Error(silent);
  try {
    return await withTimeLimit(ask(), LIMIT_MS, () => late);
  } catch (error) {
    if (error !== late) throw error;
    const isTooLate = performance.now() - began > LIMIT_MS + LATE_MS;
    return isTooLate && !isLast ? inTime(ask, silent, true) : silent;
  }
}

function faultsOf(store: StoreFault['store'], code: string | null): StoreFault[] {
  return code === null ? [] : [{ store, ...faultOf(code) }];
}

function faultOf(code: string): Omit<StoreFault, 'store'> {
  return FAULTS.find((fault) => fault.code === code) ?? UNKNOWN;
}
