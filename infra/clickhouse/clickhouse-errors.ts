/** Faults of ClickHouse; the type says whether a retry helps. */
import { PermanentError, RetryableError } from '../../schemas/errors.ts';

export class ClickHouseUnreachable extends RetryableError {
  constructor(message: string, cause: unknown) {
    super('clickhouse_unreachable', message, { cause });
  }
}

/** The embedded engine ended in the middle of the statement, and is started again. */
export class ClickHouseEnded extends RetryableError {
  constructor(cause: unknown) {
    super('clickhouse_unreachable', 'The embedded ClickHouse ended unexpectedly, and is started again', { cause });
  }
}

/** ClickHouse took the statement and does not answer. The statement was cancelled, and may run on for a while. */
export class ClickHouseSilent extends RetryableError {
  constructor(limitMs: number) {
    super('clickhouse_silent', `ClickHouse did not answer a statement within ${limitMs / 1000} s`);
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

/** Postgres stays: it alone holds tiers, keys and webhooks. */
export const REBUILD =
  'stop, remove the folder clickhouse of DATA_DIR (for a server, empty its database) and start: all facts are derived again from the log. docs/operate.md has the rest.';

/** Stored data is damaged. Statements that need it fail, so no wrong answer is given. */
export class ClickHouseDamaged extends PermanentError {
  constructor(what: string, cause: unknown) {
    super('clickhouse_damaged', `${what}. To build it again, ${REBUILD}`, { cause });
  }
}

const AUTHENTICATION_FAILED = '516';
const UNKNOWN_DATABASE = '81';
/**
 * Writing, time, queries at once, memory, network, Keeper, an aborted or cancelled statement, read-only replica, disk space,
 * parts, all replicas away, quorum, insert of unknown outcome, threads.
 */
const PASSING = new Set('75 159 160 173 202 209 210 225 236 241 242 243 252 279 285 286 319 394 439 999'.split(' '));
/** Corrupted data, wrong checksum, cannot decompress, unknown codec. */
const DAMAGED = new Set(['246', '40', '271', '432']);
/**
 * Codes of a stored file that ends early, is missing, has the wrong size or holds impossible values. An insert can get the same
 * codes for the rows that it sends, so they mean damage only for a statement that sends none.
 */
const UNREADABLE = new Set('32 33 74 107 117 128 131 226 227 228 233'.split(' '));
const NETWORK = /^(ECONN|ENOTFOUND|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|UND_ERR|ERR_STREAM_PREMATURE)/;

export function clickhouseError(error: unknown, sends: 'rows' | 'no rows'): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  if (!(error instanceof Error) || typeof code !== 'string') return error;
  const message = oneLine(error.message || code);
  if (code === AUTHENTICATION_FAILED || code === UNKNOWN_DATABASE) {
    return new ClickHouseRefused(`ClickHouse refused the connection: ${message}. Check CLICKHOUSE_URL.`, error);
  }
  if (PASSING.has(code)) return new ClickHouseOverloaded(`ClickHouse cannot run the statement now: ${message}`, error);
  if (DAMAGED.has(code) || (sends === 'no rows' && UNREADABLE.has(code))) {
    return new ClickHouseDamaged(`ClickHouse cannot read what it stored: ${message}`, error);
  }
  if (NETWORK.test(code)) {
    return new ClickHouseUnreachable(`ClickHouse cannot be reached: ${message}. Check CLICKHOUSE_URL.`, error);
  }
  return error;
}

export function isConnectionError(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && NETWORK.test(code);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
