/** The answers that the daemon gave while it was recorded, byte for byte, all at the recorded tip. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { daemonPrint, rawMember } from '../../domain/json/raw-json.ts';
import { mapElements, readPairs } from './members.ts';
import { createPackedTexts } from './packed-texts.ts';
import { readLines } from './read-lines.ts';

/** A line of rpc.jsonl.gz. `request` is {"method", "params"}; the calls were sent with the id "x". */
export type RecordedCase = { readonly name: string; readonly request: string } & (
  | { readonly status: number; readonly body: string }
  | { readonly transportError: string }
);

/** Texts of the members; `died` when the daemon closed the connection without an answer. */
export type RecordedAnswer = { readonly result: string } | { readonly error: string } | { readonly died: true };

export interface RecordedCalls {
  /** `params` is the text of a JSON array. */
  find(method: string, params: string): RecordedAnswer | undefined;
  knowsMethod(method: string): boolean;
  /** Text of the error for a wrong number of parameters, which is the method's help. */
  helpError(method: string): string | undefined;
}

/** Digest of a call that ignores spacing, escapes and the order of object members. Numbers are compared as written. */
export function callKey(method: string, params: string): string {
  return createHash('sha1')
    .update(`${method} ${canonical(daemonPrint(params))}`)
    .digest('base64');
}

function canonical(text: string): string {
  if (text.startsWith('[')) return mapElements(text, canonical);
  if (!text.startsWith('{')) return text;
  const first = new Map<string, string>();
  for (const [key, value] of readPairs(text)) if (!first.has(key)) first.set(key, canonical(value));
  const sorted = [...first].sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
}

export function answerOf(body: string): RecordedAnswer {
  const error = rawMember(body, 'error');
  if (error !== undefined && error !== 'null') return { error };
  const result = rawMember(body, 'result');
  if (result === undefined) throw new Error('a recorded body has neither result nor error');
  return { result };
}

function readCase(line: Buffer): RecordedCase {
  return JSON.parse(line.toString('utf8')) as RecordedCase;
}

/** All lines of rpc.jsonl.gz, in file order. */
export function* readCases(folder: string): Generator<RecordedCase> {
  for (const line of readLines(join(folder, 'rpc.jsonl.gz'))) yield readCase(line);
}

/** For a recording that contains only blocks: every method counts as known. */
const NO_CALLS: RecordedCalls = { find: () => undefined, knowsMethod: () => true, helpError: () => undefined };

/** If a call was recorded twice, its named case wins over its fuzz case. */
export function loadRecordedCalls(folder: string): RecordedCalls {
  if (!existsSync(join(folder, 'rpc.jsonl.gz'))) return NO_CALLS;
  const texts = createPackedTexts();
  const lines = new Map<string, { readonly id: number; readonly fuzz: boolean }>();
  const methods = new Set<string>();
  const helpErrors = new Map<string, string>();
  for (const line of readLines(join(folder, 'rpc.jsonl.gz'))) {
    const recorded = readCase(line);
    const method = String(JSON.parse(rawMember(recorded.request, 'method') ?? '""'));
    const key = callKey(method, rawMember(recorded.request, 'params') ?? '[]');
    const fuzz = recorded.name.includes('/_fuzz:');
    const held = lines.get(key);
    if (held === undefined || (held.fuzz && !fuzz)) lines.set(key, { id: texts.add(line), fuzz });
    if (!('body' in recorded) || !recorded.body.includes('"code":-32601')) methods.add(method);
    if ('body' in recorded && recorded.body.startsWith(`{"result":null,"error":{"code":-1,"message":"${method}`)) {
      helpErrors.set(method, rawMember(recorded.body, 'error') ?? '');
    }
  }
  return {
    find(method, params) {
      const place = lines.get(callKey(method, params));
      if (place === undefined) return undefined;
      const recorded = JSON.parse(texts.get(place.id)) as RecordedCase;
      return 'body' in recorded ? answerOf(recorded.body) : { died: true };
    },
    knowsMethod: (method) => methods.has(method),
    helpError: (method) => helpErrors.get(method),
  };
}
