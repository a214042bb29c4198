/** An error that the caller of a JSON-RPC method gets to see, with a code of the daemon's table. */
import { RPC_CODES } from '../../schemas/verusd/rpc-envelope.ts';

export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RpcError';
    this.code = code;
  }
}

export const methodNotFound = () => new RpcError(RPC_CODES.methodNotFound, 'Method not found');

/** The daemon is not reachable or its answer is none; the cause stays with us. */
export const internalError = (cause: unknown) => new RpcError(RPC_CODES.internalError, 'Internal error', { cause });

/** Too many calls wait: the daemon's own words for it. */
export const queueFull = (cause: unknown) =>
  new RpcError(RPC_CODES.internalError, 'Work queue depth exceeded', { cause });
