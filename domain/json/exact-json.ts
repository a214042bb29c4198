/**
 * JSON whose numbers keep their text, because token amounts reach 10^18 satoshis and do not fit a double. Numbers that a double
 * cannot represent become marked strings; JSON.parse, several times faster than a parser in JavaScript, then reads the text.
 */
import { LosslessNumber } from 'lossless-json';
import { endOfString, isDigit, skipSpace } from './json-scan.ts';

/** First character of a marked string: `\x7f` and a number, or `\x7fs` and a string that itself begins with `\x7f`. */
const DELETE = '\x7f';
const OF_STRING = 's';
const DELETE_ESCAPED = /^\\u007f/i;
const EXACT_DIGITS = 15;

const QUOTE = 34;
const PLUS = 43;
const MINUS = 45;
const POINT = 46;
const COLON = 58;
const BACKSLASH = 92;
const DELETE_CODE = 127;

/**
 * Parses JSON; integers of up to 15 digits become numbers, every other number a LosslessNumber with its source text. The last
 * value of a repeated key wins: the daemon prints two currencies with the same last label under one key. @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  try {
    const document: unknown[] = [JSON.parse(mark(text))];
    restore(document);
    return document[0];
  } catch (error) {
    JSON.parse(text); // throws with the position in `text` rather than in the marked text
    throw error;
  }
}

/** Prints values of parseExact, each number as it was written. Prints other values as JSON.stringify does, bigints as integers. */
export function stringifyExact(value: unknown): string {
  const text = printExact(value);
  if (text === undefined) throw new TypeError('not a JSON value');
  return text;
}

/** Returns undefined for values that JSON omits. Takes a third of lossless-json's time, which handles a replacer and spaces. */
export function printExact(value: unknown): string | undefined {
  if (typeof value === 'string') return quote(value);
  if (Number.isFinite(value) || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof LosslessNumber) return value.value;
  if (Array.isArray(value)) return printArray(value);
  if ('toJSON' in value && typeof value.toJSON === 'function') return printExact(value.toJSON());
  return printObject(value as Readonly<Record<string, unknown>>);
}

function printArray(items: readonly unknown[]): string {
  let text = '';
  for (const item of items) text += `${text === '' ? '' : ','}${printExact(item) ?? 'null'}`;
  return `[${text}]`;
}

function printObject(members: Readonly<Record<string, unknown>>): string {
  let text = '';
  for (const key of Object.keys(members)) {
    const member = printExact(members[key]);
    if (member !== undefined) text += `${text === '' ? '' : ','}${quote(key)}:${member}`;
  }
  return `{${text}}`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a JSON string must not hold these characters
const TO_ESCAPE = /["\\\u0000-\u001f\ud800-\udfff]/;

function quote(text: string): string {
  return TO_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** Returns the text with each inexact number as a marked string. @throws SyntaxError for some texts that are not JSON */
function mark(text: string): string {
  let marked = '';
  let copied = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const start = at + 1;
      at = endOfString(text, at);
      if (!beginsWithDelete(text, start) || isKey(text, at)) continue;
      marked += `${text.slice(copied, start)}${DELETE}${OF_STRING}`;
      copied = start;
    } else if (code === MINUS || isDigit(code)) {
      const start = at;
      at = endOfNumber(text, start);
      if (at > 0) continue;
      at = -at;
      if (isKey(text, at)) throw new SyntaxError('a key is a string');
      marked += `${text.slice(copied, start)}"${DELETE}${text.slice(start, at)}"`;
      copied = at;
    } else at++;
  }
  return copied === 0 ? text : marked + text.slice(copied);
}

function beginsWithDelete(text: string, at: number): boolean {
  const first = text.charCodeAt(at);
  return first === DELETE_CODE || (first === BACKSLASH && DELETE_ESCAPED.test(text.slice(at, at + 6)));
}

function isKey(text: string, end: number): boolean {
  return text.charCodeAt(skipSpace(text, end)) === COLON;
}

/** Returns the index after the number, negated when a double would not print it as it was written. */
function endOfNumber(text: string, start: number): number {
  const digits = text.charCodeAt(start) === MINUS ? start + 1 : start;
  let at = digits;
  while (isDigit(text.charCodeAt(at))) at++;
  const isInteger = !continuesNumber(text.charCodeAt(at));
  if (isInteger) return at - digits > EXACT_DIGITS ? -at : at;
  do at++;
  while (isDigit(text.charCodeAt(at)) || continuesNumber(text.charCodeAt(at)));
  return -at;
}

function continuesNumber(code: number): boolean {
  return code === POINT || code === 69 || code === 101 || code === PLUS || code === MINUS;
}

/** Replaces each marked string by the value that it stands for, in place. */
function restore(parent: object): void {
  const members = parent as Record<string | number, unknown>;
  const restoreMember = (key: string | number): void => {
    const member = members[key];
    if (typeof member === 'string') {
      if (member.charCodeAt(0) === DELETE_CODE) members[key] = unmarked(member);
    } else if (typeof member === 'object' && member !== null) {
      restore(member);
    }
  };
  if (Array.isArray(parent)) for (let index = 0; index < parent.length; index++) restoreMember(index);
  else for (const key in parent) restoreMember(key);
}

function unmarked(member: string): unknown {
  return member.startsWith(OF_STRING, 1) ? member.slice(2) : new LosslessNumber(member.slice(1));
}
