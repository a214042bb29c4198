/** Answers the body of a POST as the daemon does, call by call. */
import { readRpcBody } from '../../schemas/verusd/rpc-body.ts';
import {
  printRpcError,
  printRpcResult,
  RPC_CODES,
  type RpcRefusal,
  type RpcRequest,
  rpcStatus,
} from '../../schemas/verusd/rpc-envelope.ts';
import { DaemonDied, RpcFailure } from './rpc-failure.ts';

export interface WireAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * Returns the text of a call's result; `params` is the text of the array, `texts` the texts of its elements. Throws RpcFailure or
 * DaemonDied.
 */
export type CallPrinter = (method: string, params: string, texts: readonly string[]) => string;

const failed = (code: number, message: string, id: string): WireAnswer => ({
  status: rpcStatus(code),
  body: printRpcError(code, message, id),
});

function answerOne(request: RpcRequest | RpcRefusal, call: CallPrinter): WireAnswer {
  const { id } = request;
  if (request.kind === 'refusal') return failed(request.code, request.message, id);
  try {
    return { status: 200, body: printRpcResult(call(request.method, request.params, request.texts), id) };
  } catch (error) {
    if (error instanceof DaemonDied) throw error;
    if (error instanceof RpcFailure) return failed(error.code, error.message, id);
    // The daemon also reports any error inside a method as -1.
    return failed(RPC_CODES.misc, String(error), id);
  }
}

const MOST = Number.POSITIVE_INFINITY;
/** The daemon limits only the size of the body. */
const DAEMON_LIMITS = {
  callBytes: 32 * 1024 * 1024,
  batchBytes: 32 * 1024 * 1024,
  nesting: MOST,
  tokens: MOST,
  idBytes: MOST,
  parameters: MOST,
};

/** @throws DaemonDied when `call` does */
export function answerBody(body: Uint8Array, call: CallPrinter): WireAnswer {
  const read = readRpcBody(body, DAEMON_LIMITS);
  if (read.kind === 'batch') {
    const answers = read.requests.map((request) => answerOne(request, call).body);
    return { status: 200, body: `[${answers.join(',')}]\n` };
  }
  const answer = answerOne(read.request, call);
  return { ...answer, body: `${answer.body}\n` };
}
