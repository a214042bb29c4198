/** Prints the JSON of a large value in pieces, so that the caller can yield to the event loop between them. */
import { LosslessNumber } from 'lossless-json';
import { printExact } from './exact-json.ts';

type Print = (value: unknown) => string | undefined;

/** Approximate characters of a piece; a single scalar is never divided. */
const PIECE = 16 * 1024;
/** Values below this depth are printed at once: the rows of an answer are members of its members. */
const LEVELS = 4;
/** Approximate characters of a number. */
const SCALAR = 24;
/** Characters that an array or an object counts in addition to its members, which bounds the recursion of `roomAfter`. */
const CONTAINER = 64;

/** Yields pieces that together are the text of stringifyExact. `print` prints scalars, small values and values below LEVELS. */
export function* printPieces(value: unknown, print: Print = printExact): Generator<string, void> {
  let piece = '';
  for (const text of printed(value, print, LEVELS)) {
    piece += text;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

function* printed(value: unknown, print: Print, levels: number): Generator<string, void> {
  // Printing at once is several times as fast as printing member by member, and most rows are small.
  if (levels === 0 || !isDivisible(value) || roomAfter(value, PIECE) >= 0) {
    const text = print(value);
    if (text === undefined) throw new TypeError('not a JSON value');
    yield text;
  } else if (Array.isArray(value)) {
    yield '[';
    let separator = '';
    for (const item of value) {
      yield separator;
      if (isDivisible(item)) yield* printed(item, print, levels - 1);
      else yield print(item) ?? 'null';
      separator = ',';
    }
    yield ']';
  } else {
    yield '{';
    let separator = '';
    for (const [key, member] of Object.entries(value)) {
      const text = isDivisible(member) ? null : print(member);
      if (text === undefined) continue;
      yield `${separator}${printExact(key)}:`;
      if (text === null) yield* printed(member, print, levels - 1);
      else yield text;
      separator = ',';
    }
    yield '}';
  }
}

function isDivisible(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || value instanceof LosslessNumber) return false;
  return !('toJSON' in value && typeof value.toJSON === 'function');
}

/** Returns about how many of `room` characters are left after the text of a value; negative when it does not fit. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length;
  if (!isDivisible(value)) return room - SCALAR;
  let left = room - CONTAINER;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at++) left = roomAfter(value[at], left);
    return left;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(members)) {
    if (left < 0) break;
    left = roomAfter(members[key], left - key.length);
  }
  return left;
}
