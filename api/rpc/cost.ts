/** Cost of a body, charged before any of it is executed, and the error if the cost is too high. */
import {
  printRpcError,
  RPC_CODES,
  type RpcBody,
  type RpcRefusal,
  type RpcRequest,
} from '../../schemas/verusd/rpc-envelope.ts';
import type { CallCost } from '../access/gate.ts';
import { rpcCredits } from './methods/method-table.ts';
import { MAX_BATCH, type RpcAnswer } from './rpc-handler.ts';

const LEAST_CREDITS = 1;

function creditsOf(request: RpcRequest | RpcRefusal): number {
  return request.kind === 'refusal' ? LEAST_CREDITS : rpcCredits(request.method, request.texts.length);
}

/** A batch costs one request per element. */
export function rpcCost(body: RpcBody): CallCost {
  if (body.kind === 'single') return { requests: 1, credits: creditsOf(body.request) };
  const { requests } = body;
  // An empty or too large batch executes nothing.
  if (requests.length === 0 || requests.length > MAX_BATCH) return { requests: 1, credits: LEAST_CREDITS };
  return { requests: requests.length, credits: requests.reduce((sum, request) => sum + creditsOf(request), 0) };
}

/** HTTP 429; a batch that exceeds the allowance is refused as a whole. There is no Retry-After if waiting cannot help. */
export function tooManyRequests(body: RpcBody): RpcAnswer {
  return refused(body, 429, RPC_CODES.tooManyRequests, 'Too many requests');
}

/** The error that clients of the daemon know from a server that cannot answer. */
export function internalFailure(body: RpcBody): RpcAnswer {
  return refused(body, 500, RPC_CODES.internalError, 'Internal error');
}

/** The id is null because the body is not read. */
export function bodyTooLarge(maxBytes: number): RpcAnswer {
  return withoutId(413, RPC_CODES.invalidRequest, `Request body too large: at most ${maxBytes} bytes are taken`);
}

/** The daemon's error message for too many calls. */
export function noRoom(): RpcAnswer {
  return withoutId(503, RPC_CODES.internalError, 'Work queue depth exceeded');
}

function withoutId(status: number, code: number, message: string): RpcAnswer {
  return { status, body: `${printRpcError(code, message, 'null')}\n`, ourFault: false };
}

function refused(body: RpcBody, status: number, code: number, message: string): RpcAnswer {
  const id = body.kind === 'single' ? body.request.id : 'null';
  return {
    status,
    body: `${printRpcError(code, message, id)}\n`,
    ourFault: status >= 500,
  };
}
