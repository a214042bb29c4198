/** The replies to a batch of calls: where each result stands in the body, and the few members that the caller reads. */
import { messageOf } from '../../schemas/errors.ts';
import { readReply, splitBatch } from './rpc-reply.ts';

export interface BatchCalls {
  /** Ids of the calls, in their order. */
  readonly ids: readonly number[];
  /** Members of each result that the caller reads. */
  readonly members: readonly string[];
}

/** Small, however large the results: it goes from thread to thread. */
export interface FoundResult {
  /** Place of its bytes in the body. */
  readonly begin: number;
  readonly end: number;
  /** In the order of `BatchCalls.members`. Numbers may have lost digits; arrays and objects come empty. */
  readonly members: readonly unknown[];
}

export interface BatchResults {
  /** Null for a call that the daemon refused. */
  readonly results: readonly (FoundResult | null)[];
  /** Why the body is not the reply to these calls, each result proper JSON; then there are no results. */
  readonly garbage: string | null;
}

export function readBatchReply(body: Buffer, { ids, members }: BatchCalls): BatchResults {
  const replies = splitBatch(body, ids);
  if (!replies) return garbage('no reply to each call');
  const results: (FoundResult | null)[] = [];
  for (const [index, bytes] of replies.entries()) {
    const reply = readReply(bytes, ids[index] ?? 0);
    if (reply.kind === 'garbage') return garbage(reply.why);
    if (reply.kind === 'error') {
      results.push(null);
      continue;
    }
    const { result } = reply;
    if (result.buffer !== body.buffer) return garbage('a reply in another form than the daemon writes');
    const begin = result.byteOffset - body.byteOffset;
    try {
      results.push({ begin, end: begin + result.byteLength, members: membersOf(result, members) });
    } catch (error) {
      return garbage(`a result is not JSON: ${messageOf(error)}`);
    }
  }
  return { results, garbage: null };
}

const garbage = (why: string): BatchResults => ({ results: [], garbage: why });

function membersOf(result: Buffer, names: readonly string[]): unknown[] {
  const value: unknown = JSON.parse(result.toString('utf8'));
  const object = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  return names.map((name) => emptied(object[name]));
}

function emptied(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  return typeof value === 'object' && value !== null ? {} : value;
}
