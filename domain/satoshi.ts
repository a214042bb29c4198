/** Amounts are integers of satoshis; coins as decimals exist only at the edge of the program. */
import { LosslessNumber } from 'lossless-json';

export const SATOSHIS_PER_COIN = 100_000_000n;
/** The largest amount that a column of either store can contain. */
export const MOST_SATOSHIS = 2n ** 63n - 1n;

/** A number of the daemon's JSON: kept as text when a double cannot hold it. */
export type ExactNumber = number | LosslessNumber;

/** Reads satoshis as the daemon prints them. @throws RangeError for a fraction, SyntaxError for text that is no integer */
export function exactInteger(value: ExactNumber): bigint {
  return BigInt(typeof value === 'number' ? value : value.value);
}

const COINS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Coins as the daemon prints them ("1.5", 1e-8, LosslessNumber) → satoshis. @throws RangeError for other text and beyond 8 decimals */
export function coinsToSatoshis(coins: ExactNumber | string): bigint {
  const text = coins instanceof LosslessNumber ? coins.value : String(coins);
  const match = COINS.exec(text);
  if (!match) throw new RangeError(`not an amount of coins: ${text}`);
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  const shift = 8 - fraction.length + Number(exponent);
  const scaled = shift >= 0 ? digits + '0'.repeat(shift) : digits.slice(0, shift) || '0';
  if (shift < 0 && /[1-9]/.test(digits.slice(shift))) throw new RangeError(`more than 8 decimals: ${text}`);
  const value = BigInt(scaled);
  return sign ? -value : value;
}

/** Satoshis → coins with exactly 8 decimals, as the daemon prints them. */
export function satoshisToCoins(satoshis: bigint): string {
  const negative = satoshis < 0n;
  const digits = (negative ? -satoshis : satoshis).toString().padStart(9, '0');
  return `${negative ? '-' : ''}${digits.slice(0, -8)}.${digits.slice(-8)}`;
}
