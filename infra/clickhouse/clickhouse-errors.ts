/** Errors of ClickHouse; the type tells whether a retry helps. */
import { PermanentError, RetryableError } from '../../schemas/errors.ts';
import { errorCode } from '../system-errors.ts';

export class ClickHouseUnreachable extends RetryableError {
  constructor(message: string, cause: unknown) {
    super('clickhouse_unreachable', message, { cause });
  }
}

/** The embedded engine ended during the statement and is being restarted. */
export class ClickHouseEnded extends RetryableError {
  constructor(cause: unknown) {
    super('clickhouse_unreachable', 'The embedded ClickHouse ended unexpectedly, and is started again', { cause });
  }
}

/** ClickHouse accepted the statement but does not answer. The statement was cancelled but may keep running for a while. */
export class ClickHouseSilent extends RetryableError {
  constructor(limitMs: number) {
    super('clickhouse_silent', `ClickHouse did not answer a statement within ${limitMs / 1000} s`);
  }
}

/** ClickHouse answers but cannot run the statement now: no disk space, no memory, too much load, or no Keeper. */
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

/** Leaves Postgres in place: only Postgres has tiers, keys and webhooks. */
export const REBUILD =
  'stop, remove the folder clickhouse of DATA_DIR (for a server, empty its database) and start: all facts are derived again from the log. docs/operate.md has the rest.';

/** Stored data is damaged. Statements that need it fail instead of returning wrong rows. */
export class ClickHouseDamaged extends PermanentError {
  constructor(what: string, cause: unknown) {
    super('clickhouse_damaged', `${what}. To build it again, ${REBUILD}`, { cause });
  }
}

const AUTHENTICATION_FAILED = '516';
const UNKNOWN_DATABASE = '81';
/**
 * Errors that pass: failed writes, timeouts, too many queries, memory, network, Keeper, an aborted or cancelled statement, a read-only
 * replica, disk space, too many parts, no replica available, quorum, an insert with unknown outcome, threads.
 */
const PASSING = new Set('75 159 160 173 202 209 210 225 236 241 242 243 252 279 285 286 319 394 439 999'.split(' '));
/** Corrupted data, wrong checksum, cannot decompress, unknown codec. */
const DAMAGED = new Set(['246', '40', '271', '432']);
/**
 * A stored file ends early, is missing, has the wrong size or contains impossible values. An insert can get the same codes for
 * the rows that it sends, so they mean damage only for a statement that sends none.
 */
const UNREADABLE = new Set('32 33 74 107 117 128 131 226 227 228 233'.split(' '));
const NETWORK = /^(ECONN|ENOTFOUND|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|UND_ERR|ERR_STREAM_PREMATURE)/;

export function clickhouseError(error: unknown, sends: 'rows' | 'no rows'): unknown {
  const code = errorCode(error);
  if (!(error instanceof Error) || code === undefined) return error;
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
  return NETWORK.test(errorCode(error) ?? '');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
