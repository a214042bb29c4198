/** JSON whose numbers keep their text: token amounts reach 10^18 satoshis and do not fit a double. */
import { LosslessNumber, parse, stringify } from 'lossless-json';

const SAFE_INTEGER = /^-?\d{1,15}$/;

/**
 * Parses JSON; integers of up to 15 digits become numbers, every other number a LosslessNumber with its source text. Of a
 * repeated key the last value stays: the daemon prints two currencies of one leaf name under the same key. Throws SyntaxError.
 */
export function parseExact(text: string): unknown {
  return parse(text, null, { parseNumber: exactNumber, onDuplicateKey: ({ newValue }) => newValue });
}

/** Prints what parseExact read with each number as it was written. */
export function stringifyExact(value: unknown): string {
  const text = stringify(value);
  if (text === undefined) throw new TypeError('not a JSON value');
  return text;
}

function exactNumber(text: string): number | LosslessNumber {
  return SAFE_INTEGER.test(text) ? Number(text) : new LosslessNumber(text);
}
