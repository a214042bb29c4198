/** Bounds the nesting of JSON from untrusted sources, so that code can recurse over its values. */
import { parseExact } from './exact-json.ts';
import { endOfValue, isClosing, isOpening } from './raw-json.ts';

/** The same limit as for the body of a request. */
export const MOST_LEVELS = 64;

const QUOTE = 34;
const BACKSLASH = 92;

/** Yields the indexes of the brackets that open the first level too deep; any indexes when the text is not JSON. */
function* openedTooDeep(text: string): Generator<number> {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      for (at++; at < text.length && text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++;
    } else if (isOpening(code)) {
      if (depth++ === MOST_LEVELS) yield at;
    } else if (isClosing(code)) depth--;
  }
}

export const isTooDeep = (text: string): boolean => openedTooDeep(text).next().done !== true;

/** Reads valid JSON as parseExact does, except that a value below the last level becomes a string with its text. */
export function parseShallow(text: string): unknown {
  let shallow = '';
  let copied = 0;
  for (const at of openedTooDeep(text)) {
    const end = endOfValue(text, at);
    shallow += text.slice(copied, at) + JSON.stringify(text.slice(at, end));
    copied = end;
  }
  return parseExact(copied === 0 ? text : shallow + text.slice(copied));
}
