/** Reads the envelope of a daemon's reply and keeps the result as the received bytes. */
import { skipSpace } from '../../domain/json/json-scan.ts';
import { rawMember } from '../../domain/json/raw-json.ts';
import { messageOf } from '../../schemas/errors.ts';

export type RpcReply =
  | { readonly kind: 'result'; readonly result: Buffer }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  | { readonly kind: 'garbage'; readonly why: string };

const HEAD = Buffer.from('{"result":', 'utf8');
const CLOSING = Buffer.from('}\n', 'utf8');
const OPENING = 0x5b;
const COMMA = 0x2c;
const WARMING_UP = Buffer.from('{"result":null,"error":{"code":-28,', 'utf8');

const startsWith = (body: Buffer, head: Buffer) => body.subarray(0, head.length).equals(head);

/** Checks only the beginning and the end of an answer, not its content. */
export function isWholeAnswer(body: Buffer): boolean {
  return startsWith(body, HEAD) && body.subarray(-CLOSING.length).equals(CLOSING);
}

export function saysWarmingUp(body: Buffer): boolean {
  return startsWith(body, WARMING_UP);
}

/**
 * Reads the reply to the call with this id. A 'result' may turn out not to be JSON: the caller detects that when it parses the result,
 * so that a block of many megabytes is parsed only once.
 */
export function readReply(body: Buffer, id: number): RpcReply {
  return readPlainReply(body, id) ?? readAnyReply(body, id);
}

/** Recognizes the daemon's own form, {"result":…,"error":null,"id":…}, by its first and last bytes. */
function readPlainReply(body: Buffer, id: number): RpcReply | null {
  const tail = Buffer.from(`,"error":null,"id":${id}}`, 'utf8');
  const end = body.at(-1) === 0x0a ? body.length - 1 : body.length;
  const resultEnd = end - tail.length;
  if (resultEnd <= HEAD.length) return null;
  if (!startsWith(body, HEAD) || !body.subarray(resultEnd, end).equals(tail)) return null;
  return { kind: 'result', result: body.subarray(HEAD.length, resultEnd) };
}

/** Reads errors, and replies that a proxy in front of the daemon has reordered or reformatted. */
function readAnyReply(body: Buffer, id: number): RpcReply {
  let reply: unknown;
  try {
    reply = JSON.parse(body.toString('utf8'));
  } catch (error) {
    return { kind: 'garbage', why: `not JSON: ${messageOf(error)}` };
  }
  if (typeof reply !== 'object' || reply === null || Array.isArray(reply)) {
    return { kind: 'garbage', why: 'not a JSON-RPC reply object' };
  }
  const envelope = reply as { readonly id?: unknown; readonly error?: unknown };
  if (envelope.error !== undefined && envelope.error !== null) return readError(envelope.error);
  if (envelope.id !== id)
    return { kind: 'garbage', why: `the reply has id ${JSON.stringify(envelope.id)}, the call had ${id}` };
  // Latin-1 maps each byte to one character, so the conversion preserves the bytes.
  const bytes = body.toString('latin1');
  const result = rawMember(bytes, 'result', skipSpace(bytes, 0));
  if (result === undefined) return { kind: 'garbage', why: 'neither result nor error' };
  return { kind: 'result', result: Buffer.from(result, 'latin1') };
}

/**
 * Splits the reply to a batch into the bytes of each envelope, in the order of `ids`. Returns null unless the body has the daemon's own
 * form, [{"result":…,"error":…,"id":…},…], with these ids in this order. The ids must be unpredictable, because an answer may contain anything.
 */
export function splitBatch(body: Buffer, ids: readonly number[]): Buffer[] | null {
  const replies: Buffer[] = [];
  let at = 0;
  for (const [index, id] of ids.entries()) {
    if (body[at] !== (index === 0 ? OPENING : COMMA)) return null;
    const tail = Buffer.from(`,"id":${id}}`, 'utf8');
    const found = body.indexOf(tail, at);
    if (found < 0) return null;
    replies.push(body.subarray(at + 1, found + tail.length));
    at = found + tail.length;
  }
  return body.toString('latin1', at).trimEnd() === ']' ? replies : null;
}

function readError(error: unknown): RpcReply {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code !== 'number') return { kind: 'garbage', why: 'an error without a code' };
  return { kind: 'error', code, message: typeof message === 'string' ? message : 'an error without a text' };
}
