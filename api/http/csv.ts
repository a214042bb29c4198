/** Lines of CSV (RFC 4180) out of the values of an answer, safe to open in a spreadsheet. */
import { stringifyExact } from '../../domain/json/exact-json.ts';

/** Null is empty, numbers are as they are, texts as `defused` makes them, anything else is its JSON. Ends with CRLF. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

/** In addition to those of RFC 4180: LibreOffice by default also splits at semicolons and tabs. */
const QUOTED = /[",;\t\r\n]/;

export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? defused(value) : (stringifyExact(value) ?? '');
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Amounts that are texts because they do not fit a double, and numbers that `numbers=text` made texts. */
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
/** Spreadsheets skip these before they look for a formula: white space, control and invisible characters. */
const UNSEEN = /^[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]+/u;
const CONTROL = /^\p{Cc}/u;
/** `= + - @` and the signs that resemble them. */
const RUNS = /^[\p{Sm}\p{Pd}@]/u;

/**
 * A text that a spreadsheet might run gets a `'` in front, and so does one that begins with a `'`: whoever takes one leading `'`
 * away from a text has what was meant.
 */
function defused(text: string): string {
  if (NUMBER.test(text)) return text;
  // NFKC turns full-width, small and raised signs into the plain ones.
  const seen = text.replace(UNSEEN, '').slice(0, 1).normalize('NFKC');
  return text.startsWith("'") || CONTROL.test(text) || RUNS.test(seen) ? `'${text}` : text;
}
