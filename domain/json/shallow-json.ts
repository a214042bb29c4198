/** JSON that strangers nested: what recurses over its values sees no more levels than this. */
import { parseExact } from './exact-json.ts';
import { endOfValue, isClosing, isOpening } from './raw-json.ts';

/** As deep as a body of a request may be. */
export const MOST_LEVELS = 64;

const QUOTE = 34;
const BACKSLASH = 92;

/** Indexes of the brackets that open the level below the last allowed one; of a text that is no JSON, any. */
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

/** Values of valid JSON as parseExact reads them, but a value below the last level is its own text. */
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
