/** The state of a basket after an import, and what its token is worth in each reserve. */
import { isLiveBasket } from './basket-liveness.ts';
import { type Rational, rational } from './rational.ts';
import type { ReserveBalance } from './reserves.ts';
import { SATOSHIS_PER_COIN } from './satoshi.ts';

export type BasketReserve = Pick<ReserveBalance, 'currencyId' | 'reserves' | 'weight'>;

/** The part of a currency state that a basket's state follows from. */
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

/** The state of a basket from what a notarization says of the currency. */
export function basketState(chain: string, height: number, currency: CurrencyState): BasketState {
  const { currencyId: basketId, flags, supply, liveHeight } = currency;
  const reserves = currency.reserves.map(({ currencyId, reserves, weight }) => ({ currencyId, reserves, weight }));
  return { chain, basketId, height, flags, supply, reserves, liveHeight };
}

/** A live basket with supply and at least two reserves trades, whatever its age. */
export function isTrading(state: BasketState): boolean {
  return isLiveBasket(state.flags) && state.supply > 0n && state.reserves.length >= 2;
}

/** Units of a reserve per basket token, exact; null for a reserve with amount or weight zero. */
export function priceInReserve(
  state: Pick<BasketState, 'supply'>,
  reserve: Pick<BasketReserve, 'reserves' | 'weight'>,
): Rational | null {
  if (reserve.reserves <= 0n || reserve.weight <= 0n) return null;
  return rational(reserve.reserves * SATOSHIS_PER_COIN, state.supply * reserve.weight);
}

/** Satoshis as coins. */
export function coins(satoshis: bigint): Rational {
  return { n: satoshis, d: SATOSHIS_PER_COIN };
}
