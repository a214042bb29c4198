/**
 * JSON as text: finds where values end and which members they have, so that a part can be passed on exactly as it was written.
 * Every function expects valid JSON without whitespace at `start`.
 */
import { endOfString, skipSpace } from './json-scan.ts';

export interface RawSpan {
  readonly start: number;
  readonly end: number;
}

export interface RawMember extends RawSpan {
  readonly key: string;
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const ARRAY_OPEN = 91;

/** Value of the string between the quotes at `start` and before `end`. */
function stringValue(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes('\\') ? String(JSON.parse(text.slice(start, end))) : inner;
}

export const isOpening = (code: number): boolean => code === 91 || code === 123;
export const isClosing = (code: number): boolean => code === 93 || code === 125;

function endOfScalar(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === COMMA || isClosing(code) || code <= 32) break;
    at++;
  }
  return at;
}

/** Index after one bracket, comma, colon or scalar. */
function endOfToken(text: string, start: number): number {
  const code = text.charCodeAt(start);
  const isMark = isOpening(code) || isClosing(code) || code === COMMA || code === COLON;
  return isMark ? start + 1 : endOfScalar(text, start);
}

/** Index after the value that begins at `start`. It does not recurse, so any depth is fine. */
export function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return endOfString(text, start);
  if (!isOpening(first)) return endOfScalar(text, start);
  let depth = 1;
  let at = start + 1;
  while (depth > 0) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    if (isOpening(code)) depth++;
    else if (isClosing(code)) depth--;
    at++;
  }
  return at;
}

/** Members of the object that begins at `start`, in order, repeated keys included. */
export function rawMembers(text: string, start: number): RawMember[] {
  return [...eachMember(text, start)];
}

/** Yields the same members one by one, for objects with millions of them. */
export const eachMember = (text: string, start: number): Generator<RawMember> => eachPart(text, start, []);

/** Yields the same members, but of an array under one of the keys `lists` each element under that key: no step reads more than one. */
export function* eachPart(text: string, start: number, lists: readonly string[]): Generator<RawMember> {
  let at = skipSpace(text, start + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = endOfString(text, at);
    const key = stringValue(text, at, keyEnd);
    const value = skipSpace(text, skipSpace(text, keyEnd) + 1);
    let end: number;
    if (lists.includes(key) && text.charCodeAt(value) === ARRAY_OPEN) end = yield* eachElement(text, value, key);
    else {
      end = endOfValue(text, value);
      yield { key, start: value, end };
    }
    const next = skipSpace(text, end);
    if (text.charCodeAt(next) !== COMMA) break;
    at = skipSpace(text, next + 1);
  }
}

/** Returns the index after the array. */
function* eachElement(text: string, start: number, key: string): Generator<RawMember, number> {
  let at = skipSpace(text, start + 1);
  while (!isClosing(text.charCodeAt(at))) {
    const end = endOfValue(text, at);
    yield { key, start: at, end };
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return at + 1;
}

/** The first `most` elements of an array, in order. */
export function rawElements(text: string, most = Number.POSITIVE_INFINITY): RawSpan[] {
  const elements: RawSpan[] = [];
  let at = skipSpace(text, 1);
  if (isClosing(text.charCodeAt(at))) return elements;
  for (;;) {
    const end = endOfValue(text, at);
    elements.push({ start: at, end });
    const next = skipSpace(text, end);
    if (text.charCodeAt(next) !== COMMA || elements.length >= most) return elements;
    at = skipSpace(text, next + 1);
  }
}

/** Texts of the elements of an array, in order. */
export const elementTexts = (array: string): string[] =>
  rawElements(array).map(({ start, end }) => array.slice(start, end));

/** Text of the first member `key` of the object that begins at `start`; the daemon takes the first of repeated keys too. */
export function rawMember(text: string, key: string, start = 0): string | undefined {
  const member = rawMembers(text, start).find((candidate) => candidate.key === key);
  return member && text.slice(member.start, member.end);
}

/** Every string in the text, keys and values at any depth. */
export function* rawStrings(text: string): Generator<{ readonly value: string; readonly isKey: boolean }> {
  let at = text.indexOf('"');
  while (at >= 0) {
    const end = endOfString(text, at);
    yield { value: stringValue(text, at, end), isKey: text.charCodeAt(skipSpace(text, end)) === COLON };
    at = text.indexOf('"', end);
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};
// biome-ignore lint/suspicious/noControlCharactersInRegex: the daemon escapes these characters
const ESCAPED = /["\\\u0000-\u001f\u007f]/g;

/** Prints a string as the daemon does. */
export function daemonString(value: string): string {
  const escaped = (char: string) => ESCAPES[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `"${value.replace(ESCAPED, escaped)}"`;
}

/** Matches most ids; the daemon prints them as they are written. */
const PLAIN = /^(?:\d+|"[ !#-[\]-~]*")$/;

/** Prints a value as the daemon prints it back: without whitespace, with the daemon's escapes, numbers as they were written. */
export function daemonPrint(text: string): string {
  if (PLAIN.test(text)) return text;
  let printed = '';
  let at = skipSpace(text, 0);
  while (at < text.length) {
    if (text.charCodeAt(at) === QUOTE) {
      const end = endOfString(text, at);
      printed += daemonString(stringValue(text, at, end));
      at = end;
    } else {
      const end = endOfToken(text, at);
      printed += text.slice(at, end);
      at = end;
    }
    at = skipSpace(text, at);
  }
  return printed;
}
