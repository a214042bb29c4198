/** `usd=true`: USD value of the amounts that a transaction moved, at the end of its block, and the rule of each price. */

import { queryParameter } from '../../http/parameters.ts';
import { printUsd, type Usd, usdOf } from '../../http/usd.ts';
import { decimalOrNull } from '../../http/values.ts';
import { array, boolean, nullableString, nullableUsd, object, string } from '../../schema/json-schema.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import { PRICE_RULES, type PriceAt } from './prices-at-blocks.ts';

export const usdParameter = queryParameter(
  'Include the USD value of the moved amounts at the end of the block, and the rule of each price',
  {
    type: 'boolean',
    default: false,
  },
);

const RULE = `block_price: the oracle's price at the end of the block, by the live regime, not a stamp of a conversion.
no_price: nothing priced the currency at the block. not_priced_yet: prices have not reached the block`;

export const usdPrices = array(
  object({
    currencyId: string,
    currencyName: nullableString,
    usdPrice: { ...nullableUsd, description: 'At the end of the block; null unless the rule is block_price' },
    rule: { type: 'string', enum: PRICE_RULES, description: RULE },
    provisional: { ...boolean, description: 'The price may still be corrected' },
  }),
  'With usd=true: the price of each moved currency, the native coin first',
);

export const worthThen = {
  usdValue: {
    ...nullableUsd,
    description: 'With usd=true: value of the net amounts of all currencies that had a price; null if none had',
  },
  usdPrices,
} as const;

export function pricesAnswer(ids: readonly string[], height: number, priceAt: PriceAt, currencies: Currencies) {
  return ids.map((currencyId) => {
    const { usdPrice, rule, provisional } = priceAt(height, currencyId);
    return {
      currencyId,
      currencyName: currencies.name(currencyId),
      usdPrice: decimalOrNull(usdPrice),
      rule,
      provisional,
    };
  });
}

/** `net`: satoshis by currency. */
export function worthAnswer(
  net: readonly (readonly [currencyId: string, satoshis: bigint])[],
  height: number,
  priceAt: PriceAt,
  currencies: Currencies,
) {
  const values = net.flatMap(([currencyId, satoshis]): Usd[] => {
    const { usdPrice } = priceAt(height, currencyId);
    return usdPrice === null ? [] : [usdOf(satoshis, usdPrice)];
  });
  return {
    usdValue: values.length === 0 ? null : printUsd(values.reduce((sum, value) => sum + value, 0n)),
    usdPrices: pricesAnswer(
      net.map(([currencyId]) => currencyId),
      height,
      priceAt,
      currencies,
    ),
  };
}
