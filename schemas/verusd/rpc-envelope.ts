/** verusd's JSON-RPC envelope: how it prints requests, answers and statuses, and the codes of its errors. */
import { daemonString } from '../../domain/json/raw-json.ts';

export const RPC_CODES = {
  misc: -1,
  typeError: -3,
  invalidAddressOrKey: -5,
  invalidParameter: -8,
  inWarmUp: -28,
  tooManyRequests: -32005,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  parseError: -32700,
} as const;

export interface RpcFault {
  readonly code: number;
  readonly message: string;
}

export interface RpcRequest {
  readonly kind: 'request';
  /** As the response prints it. */
  readonly id: string;
  /** As it was sent. */
  readonly sentId: string;
  readonly method: string;
  /** Array as it was sent, [] when it was missing. */
  readonly params: string;
  /** The elements of `params` as they were sent, but strings without needless escapes; only the first ones when they are too many. */
  readonly texts: readonly string[];
  /** Why these parameters must not reach a daemon; null when they may. */
  readonly fault: RpcFault | null;
}

/** A request that is refused before its method is looked up. */
export interface RpcRefusal extends RpcFault {
  readonly kind: 'refusal';
  readonly id: string;
}

export type RpcBody =
  | { readonly kind: 'single'; readonly request: RpcRequest | RpcRefusal }
  /** Its first hundred requests: more than are ever executed together. */
  | { readonly kind: 'batch'; readonly requests: readonly (RpcRequest | RpcRefusal)[] };

/** HTTP status of the error of a single call; a batch is always 200. */
export function rpcStatus(code: number): number {
  if (code === RPC_CODES.invalidRequest) return 400;
  return code === RPC_CODES.methodNotFound ? 404 : 500;
}

/** `result` is JSON text. Without the newline that ends a body. */
export const printRpcResult = (result: string, id: string): string => `{"result":${result},"error":null,"id":${id}}`;

export const printRpcError = (code: number, message: string, id: string): string =>
  `{"result":null,"error":{"code":${code},"message":${daemonString(message)}},"id":${id}}`;
