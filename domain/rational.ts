/** Exact fractions of bigints. Every function returns a positive denominator; only `reduce` reduces. */
import { ascending } from './order.ts';

export interface Rational {
  readonly n: bigint;
  readonly d: bigint;
}

export const ZERO: Rational = { n: 0n, d: 1n };
export const ONE: Rational = { n: 1n, d: 1n };

/** @throws RangeError for a zero denominator */
export function rational(n: bigint, d = 1n): Rational {
  if (d === 0n) throw new RangeError('a fraction needs a denominator other than zero');
  return d < 0n ? { n: -n, d: -d } : { n, d };
}

export function add(a: Rational, b: Rational): Rational {
  return a.d === b.d ? { n: a.n + b.n, d: a.d } : { n: a.n * b.d + b.n * a.d, d: a.d * b.d };
}

export function subtract(a: Rational, b: Rational): Rational {
  return add(a, { n: -b.n, d: b.d });
}

export function multiply(a: Rational, b: Rational): Rational {
  return { n: a.n * b.n, d: a.d * b.d };
}

/** @throws RangeError when b is zero */
export function divide(a: Rational, b: Rational): Rational {
  return rational(a.n * b.d, a.d * b.n);
}

/** Returns a negative number, zero or a positive number when a is below, equal to or above b. */
export function compare(a: Rational, b: Rational): number {
  return ascending(a.n * b.d, b.n * a.d);
}

export function absolute(a: Rational): Rational {
  return a.n < 0n ? { n: -a.n, d: a.d } : a;
}

export function smaller(a: Rational, b: Rational): Rational {
  return compare(a, b) <= 0 ? a : b;
}

export function larger(a: Rational, b: Rational): Rational {
  return compare(a, b) >= 0 ? a : b;
}

/** Returns the same number in lowest terms, which keeps sums of many fractions short. */
export function reduce(a: Rational): Rational {
  let [x, y] = [a.n < 0n ? -a.n : a.n, a.d];
  while (y !== 0n) [x, y] = [y, x % y];
  return x <= 1n ? a : { n: a.n / x, d: a.d / x };
}

/** n / d to the nearest integer, ties to the even one; d > 0. */
export function divideHalfEven(n: bigint, d: bigint): bigint {
  const floor = n / d - (n % d < 0n ? 1n : 0n);
  const twice = 2n * (n - floor * d);
  if (twice < d) return floor;
  if (twice > d) return floor + 1n;
  return floor % 2n === 0n ? floor : floor + 1n;
}

/** The number times 10^decimals, rounded half-even. */
export function toScaled(a: Rational, decimals: number): bigint {
  return divideHalfEven(a.n * 10n ** BigInt(decimals), a.d);
}
