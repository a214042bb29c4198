/** Conversions with their USD stamps. */
import {
  array,
  boolean,
  coins,
  hash,
  height,
  integer,
  nullableCoins,
  nullableHash,
  nullableInteger,
  nullableString,
  nullableUsd,
  object,
  page,
  string,
  unixTime,
} from './json-schema.ts';
import { transferEnds } from './transfer-ends.ts';

export const CONVERSION_STATUSES = ['pending', 'completed', 'refunded', 'unmatched'] as const;
export const CONVERSION_TYPES = ['convert', 'via', 'preconvert', 'mint', 'burn'] as const;
export const RULES = ['stable_in', 'stable_out', 'to_basket_from', 'to_side', 'unpriced'] as const;

const status = { type: 'string', enum: CONVERSION_STATUSES } as const;
const rule = { type: 'string', enum: RULES } as const;
const nullableNumber = { type: ['number', 'null'] } as const;

export const conversionRow = object({
  txid: {
    ...hash,
    description:
      'Of the request; with vout the key of the conversion. While a request on another chain is unknown here: the txid of its export',
  },
  vout: integer,
  chain: string,
  height: { ...height, description: 'Of the request; where it came from another chain, of its import' },
  time: { ...unixTime, description: 'Of the block at height' },
  status: { ...status, description: 'unmatched: imported, but its payout could not be told from others' },
  type: { type: 'string', enum: CONVERSION_TYPES },
  fromCurrencyId: nullableString,
  fromCurrencyName: nullableString,
  toCurrencyId: string,
  toCurrencyName: nullableString,
  viaCurrencyId: nullableString,
  viaCurrencyName: nullableString,
  amountIn: { ...coins, description: 'Conversion fee inside, transfer fee outside' },
  amountOut: { ...nullableCoins, description: 'Null while pending and when refunded; 0 for a burn and for dust' },
  price: { ...nullableNumber, description: 'amountOut ÷ amountIn; null without a payout' },
  fee: { ...coins, description: 'Conversion fee in the from currency, both legs of a via' },
  fromUsd: nullableUsd,
  toUsd: nullableUsd,
  usdValue: nullableUsd,
  rule,
  source: nullableString,
  destination: nullableString,
  exportTxid: nullableHash,
  ...transferEnds,
});

export const conversionList = page(conversionRow);

const choice = object({ currencyId: string, name: string, chain: string });
export const conversionFilters = object({
  chains: array(string),
  currencies: array(choice),
  baskets: array(choice),
  statuses: array(status),
  types: array({ type: 'string', enum: CONVERSION_TYPES }),
});

const valuation = object({
  chainId: { type: 'string', description: 'i-address of the chain' },
  chain: string,
  importChain: { ...nullableString, description: 'Chain that executed it: priceHeight is one of its heights' },
  txid: hash,
  vout: integer,
  status,
  fromCurrencyId: nullableString,
  fromCurrencyName: nullableString,
  toCurrencyId: string,
  toCurrencyName: nullableString,
  amountIn: coins,
  amountOut: nullableCoins,
  fromUsd: nullableUsd,
  toUsd: nullableUsd,
  usdValue: nullableUsd,
  rule,
  pricedCurrencyId: nullableString,
  pricedCurrencyUsd: nullableUsd,
  diverged: boolean,
  provisional: boolean,
  regime: { type: ['string', 'null'], enum: ['live', 'backfill', null] },
  regimeVersion: nullableInteger,
  priceHeight: nullableInteger,
  priceBasket: nullableString,
  reason: nullableString,
});

export const conversionValuation = object({
  txid: hash,
  count: integer,
  data: array({
    ...valuation,
    properties: {
      ...valuation.properties,
      inputs: { description: 'With explain=true: what the stamp was made from' },
      steps: {
        type: ['array', 'null'],
        description: 'With explain=true: each step from there to the numbers, in the order of computation',
        items: object({
          step: { type: 'string', enum: ['anchor', 'price_in_reserve', 'basket_price', 'mean', 'from_usd', 'to_usd'] },
          currencyId: string,
          currencyName: nullableString,
          basketId: nullableString,
          basketName: nullableString,
          expression: { type: 'string', description: 'Arithmetic of kept inputs and earlier values, amounts in coins' },
          value: { type: 'string', description: 'Decimal' },
        }),
      },
    },
  }),
});
