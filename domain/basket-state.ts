/** The state of a basket after an import, and what its token is worth in each reserve. */
import { isLiveBasket } from './basket-liveness.ts';
import { type Rational, rational } from './rational.ts';
import type { ReserveBalance } from './reserves.ts';
import { SATOSHIS_PER_COIN } from './satoshi.ts';

export type BasketReserve = Pick<ReserveBalance, 'currencyId' | 'reserves' | 'weight'>;

/** The fields of a currency state that determine a basket's state. */
export type CurrencyState = Pick<BasketState, 'flags' | 'supply' | 'reserves' | 'liveHeight'> & {
  readonly currencyId: string;
};

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

/** Builds a basket's state from the currency state in a notarization. */
export function basketState(chain: string, height: number, currency: CurrencyState): BasketState {
  const { currencyId: basketId, flags, supply, liveHeight } = currency;
  const reserves = currency.reserves.map(({ currencyId, reserves, weight }) => ({ currencyId, reserves, weight }));
  return { chain, basketId, height, flags, supply, reserves, liveHeight };
}

/** True for a live basket with a supply and at least two reserves, whatever its age. */
export function isTrading(state: BasketState): boolean {
  return isLiveBasket(state.flags) && state.supply > 0n && state.reserves.length >= 2;
}

/** Returns the exact units of a reserve per basket token; null when the reserve's amount or weight is zero. */
export function priceInReserve(
  state: Pick<BasketState, 'supply'>,
  reserve: Pick<BasketReserve, 'reserves' | 'weight'>,
): Rational | null {
  if (reserve.reserves <= 0n || reserve.weight <= 0n) return null;
  return rational(reserve.reserves * SATOSHIS_PER_COIN, state.supply * reserve.weight);
}

/** Converts satoshis to coins. */
export function coins(satoshis: bigint): Rational {
  return { n: satoshis, d: SATOSHIS_PER_COIN };
}
