/** Decimals that a caller writes, such as a bound in USD: they are kept and compared digit by digit, never through a double. */
import { LosslessNumber } from 'lossless-json';
import { parseExact } from './exact-json.ts';
import type { JsonSchema } from './rest/json-schema.ts';

const DECIMAL_PATTERN = '^\\d{1,38}(\\.\\d{1,40})?([eE][+-]?\\d{1,2})?$';

/** Of at least zero. In JSON a number, or its digits as a string for clients whose numbers are doubles. */
export const writtenDecimal = { type: ['number', 'string'], minimum: 0, pattern: DECIMAL_PATTERN } as const;

/** What a text that does not match is told; null for another pattern. */
export function decimalFault(pattern: unknown): string | null {
  return pattern === DECIMAL_PATTERN ? 'must be a decimal of at least 0, such as 12.5' : null;
}

/** Names of the members that a schema declares as written decimals, at any depth. */
export function decimalMembers({ properties = {}, items }: JsonSchema): ReadonlySet<string> {
  const names = new Set(items ? decimalMembers(items) : []);
  for (const [name, schema] of Object.entries(properties)) {
    if (schema.pattern === DECIMAL_PATTERN) names.add(name);
    for (const deeper of decimalMembers(schema)) names.add(deeper);
  }
  return names;
}

/**
 * Parses JSON; each number that is a member of one of these names becomes the string of its digits, every other one a double.
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

/** A written decimal without exponent and needless zeros. */
export function plainDecimal(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const point = whole.length + Number(exponent);
  const digits = `${'0'.repeat(Math.max(0, -point))}${whole}${fraction}`.padEnd(point, '0');
  const at = Math.max(0, point);
  const before = digits.slice(0, at).replace(/^0+/, '') || '0';
  const behind = digits.slice(at).replace(/0+$/, '');
  return behind === '' ? before : `${before}.${behind}`;
}

/** The least integer that is not below a written decimal times 10^places. */
export function scaledUp(text: string, places: number): bigint {
  const [whole = '0', fraction = ''] = plainDecimal(text).split('.');
  const kept = BigInt(whole + fraction.slice(0, places).padEnd(places, '0'));
  return fraction.length > places ? kept + 1n : kept;
}
