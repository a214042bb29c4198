/** Decides which prices are published once external prices are known. Stamps and derived rows are never affected. */

import { ONE_USD } from '../../domain/decimal.ts';
import type { GuardState } from '../../domain/prices.ts';

/** Prices are scaled by 10^30. */
export interface GuardedPrice {
  readonly usd: bigint;
}

export interface GuardVerdict<P extends GuardedPrice> {
  /** Absolute, in 10^-10 percent, capped at the largest value that can be stored; null without an external price. */
  readonly deviation: bigint | null;
  readonly status: GuardState;
  /** Null when the derived price is published unchanged. */
  readonly published: P | null;
}

export interface GuardInput<P extends GuardedPrice> {
  /** Newest price derived from the chain. */
  readonly derived: P;
  /** The price by the remaining anchors while an anchor is off its peg; null when they give none; undefined when no anchor is off. */
  readonly replaced: P | null | undefined;
  readonly external: bigint | null;
  /** The price that was published when it was last found good; null when it never was. */
  readonly good: P | null;
}

export const DEVIATION_DECIMALS = 10;
const SCALE = 10n ** BigInt(DEVIATION_DECIMALS);
const WARNING_PCT = 2n * SCALE;
const REJECTED_PCT = 5n * SCALE;
/** numeric(30,10) */
const LARGEST_DEVIATION = 10n ** 30n - 1n;

/** Up to 2 % off is healthy, up to 5 % a warning, more is rejected: then the last good price stays, if there is one. */
export function judgePrice<P extends GuardedPrice>({
  derived,
  replaced,
  external,
  good,
}: GuardInput<P>): GuardVerdict<P> {
  const current = replaced === undefined ? derived : replaced;
  const deviation = external === null ? null : deviationOf((current ?? derived).usd, external);
  if (current === null || (deviation !== null && deviation > REJECTED_PCT)) {
    return { deviation, status: 'rejected', published: good };
  }
  const status = deviation !== null && deviation > WARNING_PCT ? 'warning' : 'healthy';
  return { deviation, status, published: current === derived ? null : current };
}

/** An anchor more than 2 % off one dollar leaves the set; an anchor without an external price stays. */
export function isOffPeg(external: bigint | null): boolean {
  return external !== null && deviationOf(external, ONE_USD) > WARNING_PCT;
}

function deviationOf(price: bigint, reference: bigint): bigint {
  const difference = price > reference ? price - reference : reference - price;
  const deviation = (difference * 100n * SCALE) / reference;
  return deviation < LARGEST_DEVIATION ? deviation : LARGEST_DEVIATION;
}
