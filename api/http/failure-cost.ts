/** Decides which failures keep their charge: work that ran into a limit, which callers could otherwise repeat for free. */

import { ClickHouseSilent } from '../../infra/clickhouse/clickhouse-errors.ts';
import { errorCode } from '../../infra/system-errors.ts';
import { DaemonGarbage, DaemonTimeout } from '../../infra/verusd/daemon-errors.ts';
import { AnswerGivenUp } from '../access/answer-memory.ts';
import { QueueFull } from '../access/priority-lanes.ts';
import { ApiError } from './api-error.ts';

/** Postgres: statement_timeout. ClickHouse: max_execution_time, max_memory_usage, max_result_rows. */
const TOO_SLOW = /^(57014|159|241|396)$/;
const COSTLY_ANSWERS: ReadonlySet<string> = new Set(['query_too_slow', 'too_slow', 'busy']);
/** QueueFull: a caller that fills the queue would get all further calls for free. ClickHouseSilent: the statement may still be running. */
const COSTLY = [DaemonTimeout, DaemonGarbage, AnswerGivenUp, QueueFull, ClickHouseSilent];

/** Used by both REST and JSON-RPC: docs/decisions/0027-requests-and-bodies.md. */
export function hasCost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof ApiError && COSTLY_ANSWERS.has(error.code)) return true;
  return isStatementTooSlow(error) || COSTLY.some((kind) => error instanceof kind) || hasCost(error.cause);
}

/** Returns whether a store cancelled a statement at a limit, also when the store's error is only the cause. */
export function isStatementTooSlow(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return TOO_SLOW.test(errorCode(error) ?? '') || isStatementTooSlow(error.cause);
}
