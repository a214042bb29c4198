/** Prints values of the stores as exact number tokens, never through a double. */
import { LosslessNumber } from 'lossless-json';
import { formatDecimal, parsePrice, plainDecimal, STAMP_DECIMALS } from '../../domain/decimal.ts';
import { satoshisToCoins } from '../../domain/satoshi.ts';

/** Satoshis → JSON number of coins with exactly 8 decimals. */
export function coins(satoshis: bigint): LosslessNumber {
  return new LosslessNumber(satoshisToCoins(satoshis));
}

export function coinsOrNull(satoshis: bigint | null): LosslessNumber | null {
  return satoshis === null ? null : coins(satoshis);
}

/** A decimal of the store → JSON number without trailing zeros. */
export function decimal(text: string): LosslessNumber {
  return new LosslessNumber(text.includes('.') ? text.replace(/\.?0+$/, '') : text);
}

export function decimalOrNull(text: string | null): LosslessNumber | null {
  return text === null ? null : decimal(text);
}

/** A decimal as a caller wrote it → JSON number of the same value. */
export function writtenNumber(text: string): LosslessNumber {
  return new LosslessNumber(plainDecimal(text));
}

const SIGNIFICANT_DIGITS = 15;

/** Returns numerator ÷ denominator with 15 significant digits, rounded half up. Both must be positive, or the numerator zero. */
export function ratio(numerator: bigint, denominator: bigint): LosslessNumber {
  if (numerator === 0n) return new LosslessNumber('0');
  const most = SIGNIFICANT_DIGITS - numerator.toString().length + denominator.toString().length;
  // One decimal less if the leading digits are at least those of the denominator (the quotient has a digit more): equal ratios print alike.
  const hasOneMore = most > 0 && numerator * 10n ** BigInt(most) >= denominator * 10n ** BigInt(SIGNIFICANT_DIGITS);
  const scale = Math.max(0, most - (hasOneMore ? 1 : 0));
  const scaled = (numerator * 10n ** BigInt(scale) * 2n + denominator) / (denominator * 2n);
  const digits = scaled.toString().padStart(scale + 1, '0');
  return decimal(scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`);
}

/** Satoshis at a price in USD (decimal text) → their exact value in USD. */
export function usdValueOf(satoshis: bigint, price: string | null): LosslessNumber | null {
  if (price === null) return null;
  return new LosslessNumber(formatDecimal(satoshis * parsePrice(price), STAMP_DECIMALS));
}

/** Seconds since the epoch → ISO 8601 UTC. */
export function isoTime(seconds: bigint | number): string {
  return new Date(Number(seconds) * 1000).toISOString();
}
