/** Decimals in requests, such as a bound in USD: kept and compared by their digits, never as a double. */
import { LosslessNumber } from 'lossless-json';
import { parseExact } from '../../domain/json/exact-json.ts';
import type { JsonSchema, Schema } from './json-schema.ts';

const DECIMAL_PATTERN = '^\\d{1,38}(\\.\\d{1,40})?([eE][+-]?\\d{1,2})?$';

/** Not negative. In JSON a number or, for clients whose numbers are doubles, a string of its digits; parsed to its digits in both cases. */
declare const DECIMAL: unique symbol;

/** The digits of the decimal. */
export type WrittenDecimal = string & { readonly [DECIMAL]: true };

export const writtenDecimal: Schema<WrittenDecimal> & { readonly pattern: string } = {
  type: ['number', 'string'],
  minimum: 0,
  pattern: DECIMAL_PATTERN,
};

/** Returns the message for a text that does not match the pattern of decimals; null for another pattern. */
export function decimalFault(pattern: unknown): string | null {
  return pattern === DECIMAL_PATTERN ? 'must be a decimal of at least 0, such as 12.5' : null;
}

/** Returns the names of members that a schema declares as written decimals, at any depth. */
export function decimalMembers({ properties = {}, items }: JsonSchema): ReadonlySet<string> {
  const names = new Set(items ? decimalMembers(items) : []);
  for (const [name, schema] of Object.entries(properties)) {
    if (schema.pattern === DECIMAL_PATTERN) names.add(name);
    for (const deeper of decimalMembers(schema)) names.add(deeper);
  }
  return names;
}

/**
 * Parses JSON. Numbers of members with one of these names become strings of their digits, all others become doubles.
 * @throws SyntaxError
 */
export function parseWithDecimals(text: string, names: ReadonlySet<string>): unknown {
  return settled(parseExact(text), names, false);
}

function settled(value: unknown, names: ReadonlySet<string>, isDecimal: boolean): unknown {
  if (isDecimal && (typeof value === 'number' || value instanceof LosslessNumber)) return String(value);
  if (value instanceof LosslessNumber) return Number(value.value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => settled(item, names, false));
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) members[name] = settled(members[name], names, names.has(name));
  return members;
}
