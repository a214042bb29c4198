/** A conversion side as in the golden decisions of stamps-synthetic.json. */

import { parsePrice } from '../../../../domain/decimal.ts';
import { coinsToSatoshis } from '../../../../domain/satoshi.ts';
import type { ConversionSide } from '../../../../processors/pricing/stamp-decision.ts';

export type GoldenSideKind = 'stable' | 'native' | 'basket' | 'other';

/** `amount` in coins, `usd` per unit. */
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
