/** Turns any error into an answer of RFC 9457, and logs faults of the service with the id of the request. */

import { stringifyExact } from '../../domain/json/exact-json.ts';
import { ClickHouseDamaged } from '../../infra/clickhouse/clickhouse-errors.ts';
import type { Logger } from '../../infra/logger.ts';
import { postgresTrouble } from '../../infra/postgres/postgres-errors.ts';
import { DaemonReplyTooLarge, DaemonRpcError } from '../../infra/verusd/daemon-errors.ts';
import { RetryableError, VerustreamError } from '../../schemas/errors.ts';
import { AnswerGivenUp, MOST_ANSWER_BYTES } from '../access/answer-memory.ts';
import type { RequestInfo } from './answer-route.ts';
import { ApiError, problemBody } from './api-error.ts';
import { hasCost, isStatementTooSlow } from './failure-cost.ts';
import { headerLines } from './header-lines.ts';
import type { Reply } from './reply.ts';

const RETRY_AFTER_SECONDS = '5';

export function problemReply(error: unknown, asked: RequestInfo, logger: Logger): Reply {
  const refusal = toApiError(error);
  if (isFault(error, refusal)) {
    const passes = refusal.status === 503; // a temporary cause, which makes many requests fail
    const context = { err: error, requestId: asked.requestId, url: asked.url, query: asked.query };
    logger[passes ? 'warn' : 'error'](context, 'a request failed');
  }
  return {
    status: refusal.status,
    isPaid: hasCost(error),
    headers: headerLines({
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...(refusal.status === 503 && { 'Retry-After': RETRY_AFTER_SECONDS }),
      ...refusal.details.headers,
    }),
    body: Buffer.from(`${stringifyExact(problemBody(refusal, asked.requestId))}\n`),
  };
}

/** An ApiError is an intended answer, such as `syncing`; every other error with a status from 500 is a fault. */
export function isFault(error: unknown, refusal: ApiError): boolean {
  return refusal.status >= 500 && !(error instanceof ApiError);
}

export function toApiError(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  if (cause instanceof DaemonRpcError) {
    return new ApiError('daemon_error', `the daemon refused: ${cause.rpcMessage}`, { cause });
  }
  if (cause instanceof DaemonReplyTooLarge) {
    return new ApiError('daemon_error', `the answer of the daemon has more than ${MOST_ANSWER_BYTES} bytes`, { cause });
  }
  if (cause instanceof AnswerGivenUp) {
    return new ApiError('busy', 'answers to this caller hold too much memory at the moment: ask again', { cause });
  }
  if (cause instanceof VerustreamError && cause.code.startsWith('daemon_')) {
    return new ApiError('daemon_error', 'the daemon of this chain cannot be reached at the moment', { cause });
  }
  if (isStatementTooSlow(cause)) {
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
