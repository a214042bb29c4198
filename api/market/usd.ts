/** US dollars inside the market answers: integers scaled by 10^38, exact until they are printed. */
import { LosslessNumber } from 'lossless-json';
import { scaledUp } from '../../schemas/decimal.ts';
import { decimal } from '../http/values.ts';

/** Scaled by 10^38: an amount in satoshis times a price of 30 decimals. */
export type Usd = bigint;

const PLACES = 38;
const PRINTED_PLACES = 8;

/** Decimal text of at most 38 decimals. */
export function parseUsd(text: string): Usd {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  const value = BigInt(whole + fraction.padEnd(PLACES, '0'));
  return text.startsWith('-') ? -value : value;
}

/** The least value that is not below a written decimal. */
export function leastUsd(text: string): Usd {
  return scaledUp(text, PLACES);
}

/** Value of satoshis at a price (decimal text of at most 30 decimals). */
export function usdOf(satoshis: bigint, price: string): Usd {
  const [whole = '0', fraction = ''] = price.split('.');
  return satoshis * BigInt(whole + fraction.padEnd(30, '0'));
}

/** Rounded half up to 8 decimals. */
export function printUsd(value: Usd): LosslessNumber {
  const step = 10n ** BigInt(PLACES - PRINTED_PLACES);
  const negative = value < 0n;
  const rounded = ((negative ? -value : value) + step / 2n) / step;
  const digits = rounded.toString().padStart(PRINTED_PLACES + 1, '0');
  const text = `${digits.slice(0, -PRINTED_PLACES)}.${digits.slice(-PRINTED_PLACES)}`;
  return negative && rounded > 0n ? new LosslessNumber(`-${decimal(text).value}`) : decimal(text);
}

export function printUsdOrNull(value: Usd | null): LosslessNumber | null {
  return value === null ? null : printUsd(value);
}

/** What the conversions of a volume paid: 0.025 %, one charge also for a via. */
export function feesOf(volume: Usd): Usd {
  return (volume * 25n) / 100_000n;
}
