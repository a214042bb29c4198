/** Decimals as scaled integers: a price is an integer of 10^-30 USD, a stamped amount one of 10^-38 USD. */
import { compare, type Rational, toScaled } from './rational.ts';

export const PRICE_DECIMALS = 30;
/** As a price. */
export const ONE_USD = 10n ** BigInt(PRICE_DECIMALS);
/** Satoshis (8 decimals) times a price. */
export const STAMP_DECIMALS = PRICE_DECIMALS + 8;

/** USD. Products of larger prices with amounts, and sums of these, could exceed the 38 digits before the point that columns have. */
const LARGEST_PRICE: Rational = { n: 10n ** 18n, d: 1n };

export function isStorablePrice(exact: Rational): boolean {
  return compare(exact, LARGEST_PRICE) <= 0;
}

/** Converts an exact price to its stored form; rounds once, half-even. */
export function toPrice(exact: Rational): bigint {
  return toScaled(exact, PRICE_DECIMALS);
}

/** Prints a scaled integer in its shortest plain notation: 1500 with 3 decimals is "1.5". */
export function formatDecimal(scaled: bigint, decimals: number): string {
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return `${scaled < 0n ? '-' : ''}${digits.slice(0, -decimals)}${fraction && `.${fraction}`}`;
}

const PLAIN = /^(-?)(\d+)(?:\.(\d+))?$/;

/** Reads plain notation exactly. @throws RangeError for another notation or when digits would be lost */
export function parseDecimal(text: string, decimals: number): bigint {
  const match = PLAIN.exec(text);
  if (!match) throw new RangeError(`not a plain decimal: ${text}`);
  const [, sign, whole = '', fraction = ''] = match;
  if (/[1-9]/.test(fraction.slice(decimals))) throw new RangeError(`more than ${decimals} decimals: ${text}`);
  const scaled = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
  return sign ? -scaled : scaled;
}

export function formatPrice(price: bigint): string {
  return formatDecimal(price, PRICE_DECIMALS);
}

export function parsePrice(text: string): bigint {
  return parseDecimal(text, PRICE_DECIMALS);
}

/** Rewrites a caller's decimal (api/schema/written-decimal.ts) without exponent and redundant zeros. */
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

/** Multiplies a caller's decimal by 10^places and rounds up. */
export function scaledUp(text: string, places: number): bigint {
  const [whole = '0', fraction = ''] = plainDecimal(text).split('.');
  const kept = BigInt(whole + fraction.slice(0, places).padEnd(places, '0'));
  return fraction.length > places ? kept + 1n : kept;
}
