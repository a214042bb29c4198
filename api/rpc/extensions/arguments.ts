/** Reads parameters of the extension methods, by position or as one object, with the daemon's rules and errors. */
import { elementTexts, rawMembers } from '../../../domain/json/raw-json.ts';
import { RPC_CODES } from '../../../schemas/verusd/rpc-envelope.ts';
import { DEFAULT_PAGE_SIZE, MAX_OFFSET, MAX_PAGE_SIZE } from '../../http/paging.ts';
import { usageOf } from '../help.ts';
import { rpcInteger } from '../index-methods.ts';
import { RpcError } from '../rpc-error.ts';

export interface Signature {
  readonly method: string;
  readonly positions: readonly string[];
  /** Number of positions that are required, counted from the first. */
  readonly required: number;
  /** Members of the object form of the arguments; the names of the positions by default. */
  readonly members?: readonly string[];
}

/** JSON texts by name. Of a repeated member the first one counts, as in the daemon. */
export type Arguments = ReadonlyMap<string, string>;

/** @throws RpcError -1 with the usage for a wrong number of parameters, -8 for an unknown member */
export function readArguments(texts: readonly string[], signature: Signature): Arguments {
  const { positions, members = positions, required, method } = signature;
  const [first = ''] = texts;
  if (texts.length === 1 && first.startsWith('{')) {
    const given = new Map<string, string>();
    for (const { key, start, end } of rawMembers(first, 0)) {
      if (!members.includes(key)) {
        const allowed = members.join(', ');
        throw new RpcError(RPC_CODES.invalidParameter, `Unknown member ${JSON.stringify(key)}, known are ${allowed}`);
      }
      if (!given.has(key)) given.set(key, first.slice(start, end));
    }
    return given;
  }
  if (texts.length < required || texts.length > positions.length) throw new RpcError(RPC_CODES.misc, usageOf(method));
  return new Map(texts.map((text, index) => [positions[index] ?? '', text]));
}

/** No name or address of a chain is longer. */
const MAX_TEXT = 500;

/** @throws RpcError -1 for another type or a missing value, with the daemon's message; -8 for a text that is too long */
export function textOf(text: string | undefined): string {
  if (!text?.startsWith('"')) throw new RpcError(RPC_CODES.misc, 'JSON value is not a string as expected');
  const value = String(JSON.parse(text));
  if (value.length > MAX_TEXT) throw new RpcError(RPC_CODES.invalidParameter, `longer than ${MAX_TEXT} characters`);
  return value;
}

/** @throws RpcError -1 for another type */
export function textsOf(text: string): string[] {
  if (!text.startsWith('[')) throw new RpcError(RPC_CODES.misc, 'JSON value is not an array as expected');
  return elementTexts(text).map(textOf);
}

export const integerOf = (text: string | undefined, absent: number): number =>
  text === undefined || text === 'null' ? absent : rpcInteger(text);

export interface PageWindow {
  readonly limit: number;
  readonly offset: number;
}

/** Reads the members page and pageSize like the lists of the REST interface. @throws RpcError -8 when they are out of range */
export function pageWindowOf(given: Arguments): PageWindow {
  const page = integerOf(given.get('page'), 1);
  const asked = integerOf(given.get('pageSize'), DEFAULT_PAGE_SIZE);
  if (page < 1 || asked < 1) throw new RpcError(RPC_CODES.invalidParameter, 'page and pageSize begin at 1');
  const limit = Math.min(asked, MAX_PAGE_SIZE);
  if (page * limit > MAX_OFFSET) {
    throw new RpcError(RPC_CODES.invalidParameter, `page times pageSize is above ${MAX_OFFSET}`);
  }
  return { limit, offset: (page - 1) * limit };
}
