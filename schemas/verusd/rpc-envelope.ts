/** verusd's JSON-RPC envelope: what it takes for a request, in which order it checks, how it prints answers and statuses. */
import { isUtf8 } from 'node:buffer';
import { daemonPrint, daemonString, eachMember, isDaemonJson, rawElements, skipSpace } from '../raw-json.ts';

export const RPC_CODES = {
  misc: -1,
  typeError: -3,
  invalidAddressOrKey: -5,
  invalidParameter: -8,
  inWarmUp: -28,
  tooManyRequests: -32005,
  invalidRequest: -32600,
  methodNotFound: -32601,
  internalError: -32603,
  parseError: -32700,
} as const;

export interface RpcRequest {
  readonly kind: 'request';
  /** As it is printed back. */
  readonly id: string;
  /** As it was sent. */
  readonly sentId: string;
  readonly method: string;
  /** Array as it was sent, [] when it was missing. */
  readonly params: string;
  /** Its first hundred elements: more than any method has. */
  readonly texts: readonly string[];
}

/** What the daemon refuses before it looks for the method. */
export interface RpcRefusal {
  readonly kind: 'refusal';
  readonly id: string;
  readonly code: number;
  readonly message: string;
}

export type RpcBody =
  | { readonly kind: 'single'; readonly request: RpcRequest | RpcRefusal }
  /** Its first hundred requests: more than are ever executed together. */
  | { readonly kind: 'batch'; readonly requests: readonly (RpcRequest | RpcRefusal)[] };

const MOST_ELEMENTS = 100;

const refusal = (id: string, code: number, message: string): RpcRefusal => ({ kind: 'refusal', id, code, message });

const MEMBERS = ['id', 'method', 'params'] as const;

/** Texts of the first member of each of these names. */
function readMembers(text: string, start: number): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const member of eachMember(text, start)) {
    if (found.has(member.key) || !MEMBERS.some((name) => name === member.key)) continue;
    found.set(member.key, text.slice(member.start, member.end));
    if (found.size === MEMBERS.length) break;
  }
  return found;
}

function readRequest(text: string, start: number): RpcRequest | RpcRefusal {
  const invalid = (id: string, message: string) => refusal(id, RPC_CODES.invalidRequest, message);
  if (text[start] !== '{') return invalid('null', 'Invalid Request object');
  const members = readMembers(text, start);
  const sent = (key: (typeof MEMBERS)[number]): string | undefined => {
    const value = members.get(key);
    return value === 'null' ? undefined : value;
  };
  const sentId = sent('id') ?? 'null';
  const id = daemonPrint(sentId);
  const method = sent('method');
  if (method === undefined) return invalid(id, 'Missing method');
  if (!method.startsWith('"')) return invalid(id, 'Method must be a string');
  const params = sent('params') ?? '[]';
  if (!params.startsWith('[')) return invalid(id, 'Params must be an array');
  const texts = rawElements(params, 0, MOST_ELEMENTS).map((span) => params.slice(span.start, span.end));
  return { kind: 'request', id, sentId, method: String(JSON.parse(method)), params, texts };
}

/** Reads the body of a POST; never throws. */
export function readRpcBody(body: Uint8Array): RpcBody {
  const single = (message: string): RpcBody => ({
    kind: 'single',
    request: refusal('null', RPC_CODES.parseError, message),
  });
  // A byte order mark stays, and is no JSON.
  const text = isUtf8(body) ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8') : null;
  if (text === null || !isDaemonJson(text)) return single('Parse error');
  const start = skipSpace(text, 0);
  if (text[start] === '{') return { kind: 'single', request: readRequest(text, start) };
  if (text[start] !== '[') return single('Top-level object parse error');
  return {
    kind: 'batch',
    requests: rawElements(text, start, MOST_ELEMENTS).map((element) => readRequest(text, element.start)),
  };
}

/** HTTP status of a call that stands alone; a batch is always 200. */
export function rpcStatus(code: number): number {
  if (code === RPC_CODES.invalidRequest) return 400;
  return code === RPC_CODES.methodNotFound ? 404 : 500;
}

/** `result` is JSON text. Without the newline that ends a body. */
export const printRpcResult = (result: string, id: string): string => `{"result":${result},"error":null,"id":${id}}`;

export const printRpcError = (code: number, message: string, id: string): string =>
  `{"result":null,"error":{"code":${code},"message":${daemonString(message)}},"id":${id}}`;
