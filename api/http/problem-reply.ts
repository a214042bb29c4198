/** Turns any error into an answer of RFC 9457; faults of the service are logged with the request's id. */

import { stringifyExact } from '../../domain/json/exact-json.ts';
import { ClickHouseDamaged } from '../../infra/clickhouse/clickhouse-errors.ts';
import type { Logger } from '../../infra/logger.ts';
import { postgresTrouble } from '../../infra/postgres/postgres-errors.ts';
import { DaemonRpcError } from '../../infra/verusd/daemon-errors.ts';
import { RetryableError, VerustreamError } from '../../schemas/errors.ts';
import type { RequestInfo } from './answer-route.ts';
import { ApiError, problemBody } from './api-error.ts';
import { headerLines } from './header-lines.ts';
import type { Reply } from './reply.ts';

/** Postgres: statement_timeout. ClickHouse: max_execution_time, max_memory_usage, max_result_rows. */
const TOO_SLOW = /^(57014|159|241|396)$/;
const RETRY_AFTER_SECONDS = '5';
/** Requests that used resources before they were given up keep their charge; otherwise callers could repeat them for free. */
const PAID: ReadonlySet<string> = new Set(['query_too_slow', 'too_slow', 'busy']);

/** Reasons of `unavailable` that are paid: the sender may have filled the queue, and ClickHouse may go on with the statement. */
const PAID_REASONS: ReadonlySet<unknown> = new Set(['queue_full', 'clickhouse_silent']);

export function problemReply(error: unknown, asked: RequestInfo, logger: Logger): Reply {
  const refusal = toApiError(error);
  if (isFault(error, refusal)) {
    const passes = refusal.status === 503; // many fail of one cause, which passes
    const context = { err: error, requestId: asked.requestId, url: asked.url, query: asked.query };
    logger[passes ? 'warn' : 'error'](context, 'a request failed');
  }
  return {
    status: refusal.status,
    isPaid: PAID.has(refusal.code) || PAID_REASONS.has(refusal.details.members?.reason),
    headers: headerLines({
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...(refusal.status === 503 && { 'Retry-After': RETRY_AFTER_SECONDS }),
      ...refusal.details.headers,
    }),
    body: Buffer.from(`${stringifyExact(problemBody(refusal, asked.requestId))}\n`),
  };
}

/** An ApiError is an answer that was meant, such as `syncing`; everything else is a fault. */
export function isFault(error: unknown, refusal: ApiError): boolean {
  return refusal.status >= 500 && !(error instanceof ApiError);
}

export function toApiError(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  if (cause instanceof DaemonRpcError) {
    return new ApiError('daemon_error', `the daemon refused: ${cause.rpcMessage}`, { cause });
  }
  if (cause instanceof VerustreamError && cause.code.startsWith('daemon_')) {
    return new ApiError('daemon_error', 'the daemon of this chain cannot be reached at the moment', { cause });
  }
  if (isTooSlow(cause) || (cause instanceof VerustreamError && isTooSlow(cause.cause))) {
    return new ApiError('query_too_slow', 'the query takes more time or memory than allowed', { cause });
  }
  if (cause instanceof ClickHouseDamaged) {
    return new ApiError('store_damaged', 'the store can no longer read the requested data', { cause });
  }
  const trouble = postgresTrouble(cause) ?? cause;
  if (trouble instanceof RetryableError) {
    const message = 'a store cannot be reached or is too busy at the moment';
    return new ApiError('unavailable', message, { cause, members: { reason: trouble.code } });
  }
  return new ApiError('internal_error', 'the service failed to answer; its log names the reason', { cause });
}

function isTooSlow(cause: unknown): boolean {
  const code = (cause as { code?: unknown } | null)?.code;
  return typeof code === 'string' && TOO_SLOW.test(code);
}
