/** Turns the numbers of a JSON text into strings without parsing it: a daemon's answer may have tens of megabytes. */
import { isDigit } from './json-scan.ts';

/** Bytes of input per piece. */
const PIECE = 64 * 1024;

const QUOTE = 34;
const PLUS = 43;
const MINUS = 45;
const POINT = 46;
const UPPER_E = 69;
const BACKSLASH = 92;
const LOWER_E = 101;

/** Yields pieces of the same JSON, UTF-8, with each number as a string of its digits. `json` must be valid JSON. */
export function* quoteNumbers(json: Uint8Array): Generator<Buffer, void> {
  // A number has at least one digit and a separator, and gets two quotes; numbers across the ends of the piece add two more.
  const piece = Buffer.allocUnsafe(2 * PIECE + 2);
  let inString = false;
  let isEscaped = false;
  let inNumber = false;
  for (let begin = 0; begin < json.length; begin += PIECE) {
    const end = Math.min(begin + PIECE, json.length);
    let used = 0;
    for (let at = begin; at < end; at++) {
      const code = json[at] ?? 0;
      if (inString) {
        if (isEscaped) isEscaped = false;
        else if (code === BACKSLASH) isEscaped = true;
        else if (code === QUOTE) inString = false;
      } else {
        if (inNumber !== isOfNumber(code, inNumber)) {
          inNumber = !inNumber;
          piece[used++] = QUOTE;
        }
        if (code === QUOTE) inString = true;
      }
      piece[used++] = code;
    }
    if (end === json.length && inNumber) piece[used++] = QUOTE;
    yield Buffer.from(piece.subarray(0, used));
  }
}

function isOfNumber(code: number, inNumber: boolean): boolean {
  if (code === MINUS || isDigit(code)) return true;
  return inNumber && (code === POINT || code === LOWER_E || code === UPPER_E || code === PLUS);
}
