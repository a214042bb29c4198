/** The state of a basket as an import left it, and what its reserves are worth in terms of its token. */
import type { CurrencyStateFact } from '../../schemas/facts.ts';
import { type Rational, rational } from './rational.ts';

const FRACTIONAL = 0x01;
const PRELAUNCH = 0x02;
const REFUNDING = 0x04;
const LAUNCH_CONFIRMED = 0x10;
const LAUNCH_COMPLETE = 0x20;
const REQUIRED = FRACTIONAL | LAUNCH_CONFIRMED | LAUNCH_COMPLETE;
const SATOSHIS = 100_000_000n;

export interface BasketReserve {
  readonly currencyId: string;
  /** Satoshis. */
  readonly reserves: bigint;
  /** 10^8 = 100 %. */
  readonly weight: bigint;
}

export interface BasketState {
  readonly chain: string;
  readonly basketId: string;
  /** Block whose last import left this state. */
  readonly height: number;
  readonly flags: number;
  /** Satoshis. */
  readonly supply: bigint;
  readonly reserves: readonly BasketReserve[];
  /** Height of the first live state; null before. */
  readonly liveHeight: number | null;
}

type StateFields = Pick<CurrencyStateFact, 'currencyId' | 'flags' | 'supply' | 'liveHeight' | 'reserves'>;

export function basketState(chain: string, height: number, fact: StateFields): BasketState {
  const { currencyId: basketId, flags, supply, liveHeight } = fact;
  const reserves = fact.reserves.map(({ currencyId, reserves, weight }) => ({ currencyId, reserves, weight }));
  return { chain, basketId, height, flags, supply, reserves, liveHeight };
}

export function isFractional(flags: number): boolean {
  return (flags & FRACTIONAL) !== 0;
}

/** Launched, not refunding, with supply and at least two reserves: it trades, whatever its age. */
export function isTrading(state: BasketState): boolean {
  const live = (state.flags & REQUIRED) === REQUIRED && (state.flags & (PRELAUNCH | REFUNDING)) === 0;
  return live && state.supply > 0n && state.reserves.length >= 2;
}

/** Units of a reserve per basket token, exact; null for a reserve with amount or weight zero. */
export function priceInReserve(
  state: Pick<BasketState, 'supply'>,
  reserve: Pick<BasketReserve, 'reserves' | 'weight'>,
): Rational | null {
  if (reserve.reserves <= 0n || reserve.weight <= 0n) return null;
  return rational(reserve.reserves * SATOSHIS, state.supply * reserve.weight);
}

/** Satoshis as coins. */
export function coins(satoshis: bigint): Rational {
  return { n: satoshis, d: SATOSHIS };
}
