/** Forwards a call to the chain's daemon and returns its answer byte for byte. */
import type { CallOptions, VerusdClient } from '../../../infra/verusd/verusd-client.ts';
import { VerustreamError } from '../../../schemas/errors.ts';
import type { RpcRequest } from '../../../schemas/verusd/rpc-envelope.ts';
import { MOST_ANSWER_BYTES } from '../../access/answer-memory.ts';
import type { DaemonMethod } from '../methods/rpc-method.ts';
import { internalError } from '../rpc-error.ts';

export interface DaemonReply {
  readonly status: number;
  /** Bytes from the daemon with the final newline; with `end`, without the id and the newline. */
  readonly body: Uint8Array;
  /** Text after a cached, shared body: the caller's id and the newline. */
  readonly end?: string;
}

/** Sends the method name as the table has it, not as the caller spelled it. Throws RpcError -32603. */
export async function proxyCall(
  daemon: Pick<VerusdClient, 'forward'>,
  { sentId, params, method: name }: RpcRequest,
  method: DaemonMethod,
  limits: CallOptions,
): Promise<DaemonReply> {
  const call = `{"method":${JSON.stringify(name)},"params":${params},"id":${sentId}}`;
  try {
    const once = method.broadcasts === true;
    const reply = await daemon.forward(call, {
      ...limits,
      label: name,
      once,
      maxBytes: MOST_ANSWER_BYTES,
    });
    return method.namesWallet ? { ...reply, body: hideWallet(reply.body) } : reply;
  } catch (error) {
    throw error instanceof VerustreamError ? internalError(error) : error;
  }
}

/** Hides which identities the node can spend and sign for. */
function hideWallet(body: Buffer): Buffer {
  if (!body.includes('"canspendfor":true') && !body.includes('"cansignfor":true')) return body;
  // Inside a string of the answer these quotes would be escaped, so only members match.
  return Buffer.from(body.toString('latin1').replace(/"can(spend|sign)for":true/g, '"can$1for":false'), 'latin1');
}
