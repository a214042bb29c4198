/** Reads JSON-RPC bodies strictly, in one pass, with bounds on everything that a daemon would have to keep in memory. */

import { isUtf8 } from 'node:buffer';
import { asBuffer } from '../../domain/as-buffer.ts';
import { JsonScanner, MARKS } from '../../domain/json/json-scan.ts';
import { daemonPrint } from '../../domain/json/raw-json.ts';
import { ownText } from '../../domain/own-text.ts';
import { RPC_CODES, type RpcBody, type RpcFault, type RpcRefusal, type RpcRequest } from './rpc-envelope.ts';

/**
 * Most bytes of one call. The largest parameter of any method is the transaction of `sendrawtransaction` and `decoderawtransaction`:
 * 2,000,000 bytes, the size of a block, or 4,000,000 hexadecimal digits. The rest is for the envelope.
 */
export const MAX_CALL_BYTES = 4_000_000 + 4096;
/** Most bytes of a batch: two of the largest transactions fit, since one may spend the other. */
export const MAX_BATCH_BYTES = 2 * MAX_CALL_BYTES;
/** Most brackets open at once, including the envelope's. The daemon's parser has no limit; its stack overflows at some 70,000. */
export const MAX_NESTING = 64;
/** Most values and keys of one call: each takes the daemon a few hundred bytes. A transaction of 2,500 inputs has as many. */
export const MAX_TOKENS = 20_000;
export const MAX_ID_BYTES = 1024;
/** No method has more than ten. */
export const MAX_PARAMETERS = 32;
/** Short texts are copied out of a body longer than this, because a cache may keep them, and with them the whole body. */
const LONG_BODY = 16 * 1024;
const LONGEST_KEPT = 4096;
/** More than are ever executed together. */
const MOST_REQUESTS = 100;

export interface RpcLimits {
  readonly callBytes: number;
  readonly batchBytes: number;
  readonly nesting: number;
  readonly tokens: number;
  readonly idBytes: number;
  readonly parameters: number;
}

const SERVED: RpcLimits = {
  callBytes: MAX_CALL_BYTES,
  batchBytes: MAX_BATCH_BYTES,
  nesting: MAX_NESTING,
  tokens: MAX_TOKENS,
  idBytes: MAX_ID_BYTES,
  parameters: MAX_PARAMETERS,
};

const refusal = (id: string, code: number, message: string): RpcRefusal => ({ kind: 'refusal', id, code, message });
const invalid = (id: string, message: string) => refusal(id, RPC_CODES.invalidRequest, message);
const unread = (message: string) => refusal('null', RPC_CODES.parseError, message);

const tooDeep = ({ nesting }: RpcLimits) => `Parse error: brackets may be nested ${nesting} deep`;
const tooManyTokens = ({ tokens }: RpcLimits) => `Parse error: a call may hold ${tokens} values and keys`;
const tooLongCall = ({ callBytes }: RpcLimits) => `A call may have ${callBytes} bytes`;

/** The text is not JSON, or has too many values. No request of the body is then executed, not even an earlier one. */
class NoJson extends Error {}

function must(isJson: boolean): void {
  if (!isJson) throw new NoJson();
}

const fits = (text: string, bytes: number) => text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes;

const MEMBERS = ['id', 'method', 'params'] as const;

/** The first of each of these members counts, as in the daemon. */
interface Members {
  id?: string;
  method?: string;
  params?: string;
}

interface ReadParameters {
  readonly texts: readonly string[];
  readonly fault: RpcFault | null;
}

const NONE: ReadParameters = { texts: [], fault: null };

class BodyReader {
  readonly #text: string;
  readonly #scanner: JsonScanner;
  readonly #limits: RpcLimits;

  constructor(text: string, limits: RpcLimits) {
    this.#text = text;
    this.#limits = limits;
    this.#scanner = new JsonScanner(text);
  }

  body(): RpcBody {
    try {
      const read = this.#body();
      must(this.#scanner.isAtEnd());
      return read;
    } catch (error) {
      if (!(error instanceof NoJson)) throw error;
      const isLong = this.#scanner.tokens > this.#scanner.mostTokens;
      return { kind: 'single', request: unread(isLong ? tooManyTokens(this.#limits) : 'Parse error') };
    }
  }

  #body(): RpcBody {
    this.#scanner.mostTokens = this.#limits.tokens;
    const first = this.#scanner.next();
    if (first === MARKS.arrayOpen) return { kind: 'batch', requests: this.#batch() };
    if (first === MARKS.objectOpen) return { kind: 'single', request: this.#request(0) };
    must(this.#scanner.value(0));
    return { kind: 'single', request: unread('Top-level object parse error') };
  }

  /** Moves past the opening bracket; returns false, and moves past the closing one, when it follows at once. */
  #opens(open: number, close: number): boolean {
    const scanner = this.#scanner;
    must(scanner.take(open));
    scanner.tokens += 1;
    return !scanner.take(close);
  }

  /** Moves past the comma before another element or member; returns false, and moves past the closing bracket, at the end. */
  #goesOn(close: number): boolean {
    const scanner = this.#scanner;
    if (scanner.take(MARKS.comma)) return true;
    must(scanner.take(close));
    return false;
  }

  #batch(): (RpcRequest | RpcRefusal)[] {
    const requests: (RpcRequest | RpcRefusal)[] = [];
    for (let more = this.#opens(MARKS.arrayOpen, MARKS.arrayClose); more; more = this.#goesOn(MARKS.arrayClose)) {
      const start = this.#scanner.start();
      if (requests.length >= MOST_REQUESTS) {
        must(this.#scanner.value(1));
        continue;
      }
      const request = this.#request(1);
      const isSmall = fits(this.#text.slice(start, this.#scanner.at), this.#limits.callBytes);
      requests.push(isSmall ? request : invalid(request.id, tooLongCall(this.#limits)));
    }
    return requests;
  }

  #request(open: number): RpcRequest | RpcRefusal {
    const scanner = this.#scanner;
    scanner.deepest = 0;
    scanner.mostTokens = scanner.tokens + this.#limits.tokens;
    if (scanner.next() !== MARKS.objectOpen) {
      must(scanner.value(open));
      return scanner.deepest > this.#limits.nesting
        ? unread(tooDeep(this.#limits))
        : invalid('null', 'Invalid Request object');
    }
    const members: Members = {};
    let idHasNul = false;
    let parameters = NONE;
    for (let more = this.#opens(MARKS.objectOpen, MARKS.objectClose); more; more = this.#goesOn(MARKS.objectClose)) {
      const key = this.#key();
      const start = scanner.start();
      const isFirst = (key === 'id' || key === 'method' || key === 'params') && members[key] === undefined;
      scanner.sawNul = false;
      if (isFirst && key === 'params' && scanner.next() === MARKS.arrayOpen) parameters = this.#parameters(open + 2);
      else must(scanner.value(open + 1));
      if (isFirst) members[key] = this.#cut(start);
      if (isFirst && key === 'id') idHasNul = scanner.sawNul;
    }
    if (scanner.deepest > this.#limits.nesting) return unread(tooDeep(this.#limits));
    if (idHasNul) return invalid('null', 'id may not hold the character U+0000');
    return requestOf(members, parameters, this.#limits);
  }

  /** Returns the text from `start` to the scanner's position. */
  #cut(start: number): string {
    const text = this.#text.slice(start, this.#scanner.at);
    return this.#text.length > LONG_BODY && text.length <= LONGEST_KEPT ? ownText(text) : text;
  }

  #key(): string {
    const scanner = this.#scanner;
    const start = scanner.start();
    must(scanner.string());
    const length = scanner.at - start - 2;
    must(scanner.take(MARKS.colon));
    // Most keys are one of these, so no string is made for them.
    for (const name of MEMBERS) if (length === name.length && this.#text.startsWith(name, start + 1)) return name;
    const key = this.#text.slice(start + 1, start + 1 + length);
    return key.includes('\\') ? String(JSON.parse(`"${key}"`)) : key;
  }

  /** Too deep parameters are a separate fault: a call that is answered without its parameters is still answered. */
  #parameters(open: number): ReadParameters {
    const scanner = this.#scanner;
    const deepest = scanner.deepest;
    scanner.deepest = 0;
    scanner.sawNul = false;
    const texts: string[] = [];
    let count = 0;
    for (let more = this.#opens(MARKS.arrayOpen, MARKS.arrayClose); more; more = this.#goesOn(MARKS.arrayClose)) {
      const start = scanner.start();
      must(scanner.value(open));
      count += 1;
      if (count <= this.#limits.parameters) texts.push(withoutEscapes(this.#cut(start)));
    }
    const isDeep = scanner.deepest > this.#limits.nesting;
    scanner.deepest = deepest;
    return { texts, fault: faultOf(isDeep, scanner.sawNul, count, this.#limits) };
  }
}

/** Rewrites a string without needless escapes for the checks that read the text of parameters: to the daemon, "\u0030" is "0". */
const withoutEscapes = (text: string) =>
  text.startsWith('"') && text.includes('\\') ? JSON.stringify(JSON.parse(text)) : text;

function faultOf(isDeep: boolean, hasNul: boolean, count: number, limits: RpcLimits): RpcFault | null {
  if (isDeep) return { code: RPC_CODES.parseError, message: tooDeep(limits) };
  if (hasNul) return { code: RPC_CODES.invalidParameter, message: 'No text may hold the character U+0000' };
  if (count <= limits.parameters) return null;
  return { code: RPC_CODES.misc, message: `A call may have ${limits.parameters} parameters` };
}

/** Checks in the daemon's order. */
function requestOf(
  members: Members,
  { texts, fault }: ReadParameters,
  { idBytes }: RpcLimits,
): RpcRequest | RpcRefusal {
  const sent = (text: string | undefined): string | undefined => (text === 'null' ? undefined : text);
  const sentId = members.id ?? 'null';
  if (!fits(sentId, idBytes)) return invalid('null', `id may have ${idBytes} bytes`);
  const id = daemonPrint(sentId);
  const method = sent(members.method);
  if (method === undefined) return invalid(id, 'Missing method');
  if (!method.startsWith('"')) return invalid(id, 'Method must be a string');
  const params = sent(members.params) ?? '[]';
  if (!params.startsWith('[')) return invalid(id, 'Params must be an array');
  return {
    kind: 'request',
    id,
    sentId,
    method: method.includes('\\') ? String(JSON.parse(method)) : method.slice(1, -1),
    params,
    texts,
    fault,
  };
}

function isBatch(body: Uint8Array): boolean {
  let at = 0;
  while (body[at] === 32 || body[at] === 10 || body[at] === 13 || body[at] === 9) at++;
  return body[at] === MARKS.arrayOpen;
}

/** Reads the body of a POST; never throws. */
export function readRpcBody(body: Uint8Array, limits = SERVED): RpcBody {
  const single = (request: RpcRefusal): RpcBody => ({ kind: 'single', request });
  const { batchBytes, callBytes } = limits;
  if (body.byteLength > batchBytes) return single(invalid('null', `A batch may have ${batchBytes} bytes`));
  if (body.byteLength > callBytes && !isBatch(body)) return single(invalid('null', tooLongCall(limits)));
  if (!isUtf8(body)) return single(unread('Parse error'));
  // A byte order mark is kept, and makes the text invalid JSON.
  const text = asBuffer(body).toString('utf8');
  return new BodyReader(text, limits).body();
}
