/** What is published of the chain's prices once external ones are known. Stamps and derived rows never see it. */

import { PRICE_DECIMALS } from '../../domain/decimal.ts';
import type { GuardState } from '../../domain/prices.ts';

/** Prices are scaled by 10^30. */
export interface GuardedPrice {
  readonly usd: bigint;
}

export interface GuardVerdict<P extends GuardedPrice> {
  /** Absolute, in 10^-10 percent, at most the largest that is stored; null without an external price. */
  readonly deviation: bigint | null;
  readonly status: GuardState;
  /** Null where the derived price stands as it is. */
  readonly published: P | null;
}

export interface GuardInput<P extends GuardedPrice> {
  /** Newest price that the chain gives. */
  readonly derived: P;
  /** What the remaining anchors make of it while one is off its peg; null when they make nothing; undefined when none is. */
  readonly replaced: P | null | undefined;
  readonly external: bigint | null;
  /** What was published when it was last found good; null when it never was. */
  readonly good: P | null;
}

export const DEVIATION_DECIMALS = 10;
const SCALE = 10n ** BigInt(DEVIATION_DECIMALS);
const WARNING_PCT = 2n * SCALE;
const REJECTED_PCT = 5n * SCALE;
/** numeric(30,10) */
const LARGEST_DEVIATION = 10n ** 30n - 1n;
const PEG = 10n ** BigInt(PRICE_DECIMALS);

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

/** An anchor further than 2 % from one dollar leaves the set; one that no feed knows stays. */
export function isOffPeg(external: bigint | null): boolean {
  return external !== null && deviationOf(external, PEG) > WARNING_PCT;
}

function deviationOf(price: bigint, reference: bigint): bigint {
  const difference = price > reference ? price - reference : reference - price;
  const deviation = (difference * 100n * SCALE) / reference;
  return deviation < LARGEST_DEVIATION ? deviation : LARGEST_DEVIATION;
}
