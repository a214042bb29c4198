/** Prints values of an answer as lines of CSV (RFC 4180) that are safe to open in a spreadsheet. */
import { stringifyExact } from '../../domain/json/exact-json.ts';

/** Prints null as an empty cell, texts as `defused` returns them, everything else as JSON. The line ends with CRLF. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

/** Includes semicolons and tabs in addition to the characters of RFC 4180: LibreOffice by default splits at them too. */
const QUOTED = /[",;\t\r\n]/;

export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? defused(value) : (stringifyExact(value) ?? '');
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Texts that are numbers: amounts that do not fit a double, and all numbers under `numbers=text`. */
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
/** Spreadsheets skip these before they look for a formula: white space, control and invisible characters. */
const UNSEEN = /^[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]+/u;
const CONTROL = /^\p{Cc}/u;
/** `= + - @` and the signs that resemble them. */
const RUNS = /^[\p{Sm}\p{Pd}@]/u;

/**
 * Puts a `'` in front of a text that a spreadsheet might run as a formula, and of a text that begins with a `'`: removing one leading
 * `'` always restores the original text.
 */
function defused(text: string): string {
  if (NUMBER.test(text)) return text;
  // NFKC turns full-width, small and raised signs into the plain ones.
  const seen = text.replace(UNSEEN, '').slice(0, 1).normalize('NFKC');
  return text.startsWith("'") || CONTROL.test(text) || RUNS.test(seen) ? `'${text}` : text;
}
