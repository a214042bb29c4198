/** Lines of CSV (RFC 4180) out of the values of an answer. */
import { stringifyExact } from '../../schemas/exact-json.ts';

/** Null is empty, numbers and texts are as they are, anything else is its JSON. Ends with CRLF. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(cell).join(',')}\r\n`;
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : (stringifyExact(value) ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
