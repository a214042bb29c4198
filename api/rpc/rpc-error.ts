/** An error that the caller of a JSON-RPC method sees, with an error code of the daemon. */
import { DaemonReplyTooLarge } from '../../infra/verusd/daemon-errors.ts';
import { RPC_CODES } from '../../schemas/verusd/rpc-envelope.ts';
import { AnswerGivenUp, MOST_ANSWER_BYTES } from '../access/answer-memory.ts';
import { QueueFull } from '../access/priority-lanes.ts';
import { isStatementTooSlow } from '../http/failure-cost.ts';

export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RpcError';
    this.code = code;
  }
}

export const methodNotFound = () => new RpcError(RPC_CODES.methodNotFound, 'Method not found');

/** The error for a daemon that is unreachable or answers garbage, and for exceeded limits; the caller never sees the cause itself. */
export const internalError = (cause: unknown) => new RpcError(RPC_CODES.internalError, messageOf(cause), { cause });

function messageOf(cause: unknown): string {
  if (cause instanceof QueueFull) return 'Work queue depth exceeded'; // the daemon's message for too many calls
  if (cause instanceof DaemonReplyTooLarge) return `Answer too large: at most ${MOST_ANSWER_BYTES} bytes are handed on`;
  if (cause instanceof AnswerGivenUp) return 'Answers to this caller hold too much memory: ask for less at once';
  if (isStatementTooSlow(cause)) return 'The query takes more time or memory than allowed';
  return 'Internal error';
}
