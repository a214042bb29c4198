/** A side as the golden decisions of stamps-synthetic.json give it. */
import { coinsToSatoshis } from '../../../schemas/satoshi.ts';
import { parsePrice } from '../decimal.ts';
import type { ConversionSide } from '../stamp-decision.ts';

export type GoldenSideKind = 'stable' | 'native' | 'basket' | 'other';

/** `amount` in coins, `usd` a unit. */
export function goldenSide(currencyId: string, is: GoldenSideKind, amount: string, usd: string | null): ConversionSide {
  return {
    currencyId,
    amount: coinsToSatoshis(amount),
    price: usd === null ? null : parsePrice(usd),
    priceBasket: null,
    isAnchor: is === 'stable',
    isNative: is === 'native',
    isBasket: is === 'basket',
  };
}
