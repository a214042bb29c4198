/**
 * JSON whose numbers keep their text: token amounts reach 10^18 satoshis and do not fit a double. The engine's own parser does
 * the work, which is several times faster than one in JavaScript: what a double cannot hold is handed to it as a marked string.
 */
import { LosslessNumber, stringify } from 'lossless-json';

const NUMBER = '-?(?:\\d+[.eE][\\d.eE+-]*|\\d{16,})';
/** Finds every inexact number in a document, and what looks like one in a string. */
const AFTER_A_MARK = new RegExp(`([:[,]\\s*)(${NUMBER})`, 'g');
/** Finds strings too, so that no number in one is taken for one of the document. */
const STRING_OR_NUMBER = new RegExp(`"(?:[^"\\\\]|\\\\.)*"|${NUMBER}`, 'g');
const DELETE = '\x7f';

/**
 * Parses JSON; integers of up to 15 digits become numbers, every other number a LosslessNumber with its source text. Of a
 * repeated key the last value stays: the daemon prints two currencies of one leaf name under the same key. Throws SyntaxError.
 */
export function parseExact(text: string): unknown {
  return quickly(text) ?? carefully(text);
}

/** Prints what parseExact read with each number as it was written. */
export function stringifyExact(value: unknown): string {
  const text = stringify(value);
  if (text === undefined) throw new TypeError('not a JSON value');
  return text;
}

/** Undefined where it needs care. A quote put into a string ends it before the marker, and that is no JSON. */
function quickly(text: string): unknown {
  if (text.includes(DELETE) || text.includes('\\u007')) return undefined;
  const marked = text.replace(AFTER_A_MARK, `$1"${DELETE}$2"`);
  let value: unknown;
  try {
    value = JSON.parse(marked);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  restore(value, DELETE);
  return value;
}

function carefully(text: string): unknown {
  JSON.parse(text); // refuses what is no JSON before anything is put into it
  let marker = DELETE;
  for (const [token] of text.matchAll(STRING_OR_NUMBER)) {
    if (!token.startsWith('"')) continue;
    const string = String(JSON.parse(token));
    while (string.startsWith(marker)) marker += DELETE;
  }
  const mark = (token: string): string => (token.startsWith('"') ? token : `"${marker}${token}"`);
  const document = [JSON.parse(text.replace(STRING_OR_NUMBER, mark))];
  restore(document, marker);
  return document[0];
}

/** Makes numbers of the marked strings, in place. */
function restore(parent: object, marker: string): void {
  const members = parent as Record<string, unknown>;
  for (const key in members) {
    const member = members[key];
    if (typeof member === 'string') {
      if (member.startsWith(marker)) members[key] = new LosslessNumber(member.slice(marker.length));
    } else if (typeof member === 'object' && member !== null) {
      restore(member, marker);
    }
  }
}
