/** The replies to a batch of calls: the place of each result in the body, and the few members that the caller reads. */
import { messageOf } from '../../schemas/errors.ts';
import { readReply, splitBatch } from './rpc-reply.ts';

export interface BatchCalls {
  /** Ids in the order of the calls. */
  readonly ids: readonly number[];
  /** Members of each result that the caller reads. */
  readonly members: readonly string[];
}

/** Small even for a large result, because it is copied between threads. */
export interface FoundResult {
  /** Start and end offset of the result's bytes in the body. */
  readonly begin: number;
  readonly end: number;
  /** In the order of `BatchCalls.members`. Numbers may have lost digits; arrays and objects are emptied. */
  readonly members: readonly unknown[];
}

export interface BatchResults {
  /** Contains null for a call that the daemon refused. */
  readonly results: readonly (FoundResult | null)[];
  /** Why the body is not a valid reply to these calls (for example, a result is not JSON); `results` is then empty. Otherwise null. */
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
