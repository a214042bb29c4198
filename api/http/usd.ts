/** US dollars in market answers: integers scaled by 10^38, exact until they are printed. */
import { LosslessNumber } from 'lossless-json';
import { formatDecimal, parseDecimal, parsePrice, STAMP_DECIMALS, scaledUp } from '../../domain/decimal.ts';

/** Scaled by 10^38: an amount in satoshis times a price of 30 decimals. */
export type Usd = bigint;

const PRINTED_PLACES = 8;

/** Decimal text of at most 38 decimals. */
export function parseUsd(text: string): Usd {
  return parseDecimal(text, STAMP_DECIMALS);
}

/** Returns the smallest value that is not below a decimal as a caller wrote it. */
export function leastUsd(text: string): Usd {
  return scaledUp(text, STAMP_DECIMALS);
}

/** Returns the value of satoshis at a price (decimal text of at most 30 decimals). */
export function usdOf(satoshis: bigint, price: string): Usd {
  return satoshis * parsePrice(price);
}

/** Rounds to 8 decimals, half away from zero. */
export function printUsd(value: Usd): LosslessNumber {
  const step = 10n ** BigInt(STAMP_DECIMALS - PRINTED_PLACES);
  const rounded = ((value < 0n ? -value : value) + step / 2n) / step;
  return new LosslessNumber(formatDecimal(value < 0n ? -rounded : rounded, PRINTED_PLACES));
}

export function printUsdOrNull(value: Usd | null): LosslessNumber | null {
  return value === null ? null : printUsd(value);
}

/** Returns the fees of the conversions of a volume: 0.025 %, charged only once also for a conversion with a via. */
export function feesOf(volume: Usd): Usd {
  return (volume * 25n) / 100_000n;
}
