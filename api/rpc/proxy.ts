/** Hands a call to the chain's daemon and its answer back, byte for byte. */
import { DaemonHttpError } from '../../infra/verusd/daemon-errors.ts';
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';
import { VerustreamError } from '../../schemas/errors.ts';
import type { RpcRequest } from '../../schemas/verusd/rpc-envelope.ts';
import { internalError } from './rpc-error.ts';

export interface DaemonReply {
  readonly status: number;
  /** As the daemon sent it, with its final newline. */
  readonly body: Buffer;
}

const TIMEOUT_MS = 30_000;
const SLOW_TIMEOUT_MS = 300_000;
const OPENING = Buffer.from('{"result":');
const CLOSING = Buffer.from('}\n');

/** A whole answer begins and ends like one; what stands between is the daemon's business. */
function isAnswer(body: Buffer): boolean {
  return body.subarray(0, OPENING.length).equals(OPENING) && body.subarray(-CLOSING.length).equals(CLOSING);
}

/** `method` is a name of our table, so that no spelling of the caller's gets through. Throws RpcError -32603. */
export async function proxyCall(
  daemon: Pick<VerusdClient, 'forward'>,
  { sentId, params, method }: RpcRequest,
  slow: boolean,
): Promise<DaemonReply> {
  const call = `{"method":${JSON.stringify(method)},"params":${params},"id":${sentId}}`;
  try {
    const options = { label: method, timeoutMs: slow ? SLOW_TIMEOUT_MS : TIMEOUT_MS };
    const reply = await daemon.forward(call, options);
    if (isAnswer(reply.body)) return reply;
    throw new DaemonHttpError(reply.status, `${method}: HTTP ${reply.status} without a JSON-RPC answer`);
  } catch (error) {
    throw error instanceof VerustreamError ? internalError(error) : error;
  }
}

/** Whom the node can spend and sign for is nobody's business. */
export function hideWallet(body: Buffer): Buffer {
  const text = body.toString('latin1');
  if (!text.includes('"canspendfor":true') && !text.includes('"cansignfor":true')) return body;
  // In a string of the answer these quotes would be escaped, so only members match.
  return Buffer.from(text.replace(/"can(spend|sign)for":true/g, '"can$1for":false'), 'latin1');
}
