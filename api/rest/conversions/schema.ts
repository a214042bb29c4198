/** Schemas of conversions with their USD stamps. */

import { EXPLAINED_STEPS } from '../../../domain/explain-stamp.ts';
import { REGIMES, STAMP_RULES } from '../../../domain/stamps.ts';
import { CONVERSION_STATUSES, CONVERSION_TYPES } from '../../../domain/transfers.ts';
import { CONVERSION_FEE, VOLUME_FEES } from '../../schema/fees.ts';
import {
  array,
  boolean,
  coins,
  hash,
  height,
  integer,
  isoDate,
  nullableCoins,
  nullableHash,
  nullableInteger,
  nullableNumber,
  nullableString,
  nullableUsd,
  object,
  string,
  unixTime,
  usd,
  withOptional,
} from '../../schema/json-schema.ts';
import { transferEnds } from './transfer-ends-schema.ts';

/** One sentence for each of CONVERSION_STATUSES. */
export const STATUS_MEANINGS =
  'pending: asked for, not yet executed; or executed by a system that is not indexed. completed: paid out. ' +
  'refunded: what was given came back; or, with reason no_delivery, nothing was found to be delivered for a conversion ' +
  'from before the cutover that was executed more than 50 % off the market. ' +
  'unmatched: executed, but no output of the import could be identified as its payout or refund; reason says what was looked for';

const status = { type: 'string', enum: CONVERSION_STATUSES, description: STATUS_MEANINGS } as const;
/** UNPRICED_REASONS, and the reasons of rows without a stamp or with a value. */
const REASON_MEANINGS =
  'Why there is no usdValue: pending, refunded, unmatched (no stamp), no_delivery (counts as refunded), burn, mint, ' +
  'basket_to_basket, no_price, out_of_bounds, not_priced_yet. mirrored: one side shows the USD of the other. Null: nothing special';

const rule = { type: 'string', enum: STAMP_RULES } as const;

/** Members of a USD stamp. The reason is separate, because rows have a `reason` of their own. */
const stamp = {
  fromUsd: nullableUsd,
  toUsd: nullableUsd,
  usdValue: nullableUsd,
  rule,
  pricedCurrencyId: { ...nullableString, description: 'Currency of the side that decides usdValue' },
  pricedCurrencyUsd: { ...nullableUsd, description: 'Its price: usdValue is this times the amount of that side' },
  diverged: { ...boolean, description: 'fromUsd and toUsd differ by more than 10 % of the larger' },
  provisional: { ...boolean, description: 'Whether the value may still change' },
  regime: { type: ['string', 'null'], enum: [...REGIMES, null] },
  regimeVersion: nullableInteger,
  priceHeight: { ...nullableInteger, description: 'Block of importChain at whose end the prices apply' },
  priceBasket: { ...nullableString, description: 'Basket that the price comes from; null for an anchor' },
} as const;
const stampReason = { ...nullableString, description: REASON_MEANINGS } as const;

export const conversionRow = object({
  txid: {
    ...hash,
    description:
      'Of the request; with vout the key of the conversion. While a request on another chain is unknown here, the txid of its export',
  },
  vout: integer,
  chain: string,
  height: { ...height, description: 'Of the request; if it came from another chain, of the import' },
  time: { ...unixTime, description: 'Of the block at height' },
  status,
  type: { type: 'string', enum: CONVERSION_TYPES },
  fromCurrencyId: nullableString,
  fromCurrencyName: nullableString,
  toCurrencyId: string,
  toCurrencyName: nullableString,
  viaCurrencyId: nullableString,
  viaCurrencyName: nullableString,
  basketId: {
    ...string,
    description:
      'Basket that executes it; if the transfer continues to another system, the currency that is sent there',
  },
  basketName: nullableString,
  amountIn: { ...coins, description: 'Includes the conversion fee, not the transfer fee' },
  amountOut: {
    ...nullableCoins,
    description: 'Null while pending, when refunded and when unmatched; 0 for a burn and for dust',
  },
  price: { ...nullableNumber, description: 'amountOut ÷ amountIn; null without a payout' },
  fee: { ...coins, description: CONVERSION_FEE },
  ...stamp,
  stampReason,
  source: nullableString,
  destination: nullableString,
  exportTxid: nullableHash,
  ...transferEnds,
});

const choice = object({ currencyId: string, name: string, chain: string });
const conversionSums = {
  count: integer,
  valued: { ...integer, description: 'Completed conversions that have a USD value' },
  volume: {
    ...usd,
    description:
      'USD value of the trades among them, as in every volume: completed conversions of type convert and via, on the chain that executed them',
  },
  fees: { ...usd, description: VOLUME_FEES },
} as const;

export const conversionSummary = object({
  chain: string,
  ...conversionSums,
  days: array(
    object({ date: isoDate, ...conversionSums }),
    'By the UTC day of the import, oldest first, without empty days; conversions that no import has executed are in no day',
  ),
});

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
  ...stamp,
  reason: stampReason,
});

export const conversionValuation = object({
  txid: hash,
  count: integer,
  data: array(
    withOptional(valuation, {
      inputs: { description: 'With explain=true: the inputs of the stamp' },
      steps: {
        type: ['array', 'null'],
        description: 'With explain=true: each step from the inputs to the numbers, in the order of computation',
        items: object({
          step: {
            type: 'string',
            enum: EXPLAINED_STEPS,
            description:
              'market_rate, executed_rate: units of toCurrency for one of fromCurrency by the state of the basket and by the ' +
              'prices of the import; only for a conversion that counts as refunded because these rates are far apart',
          },
          currencyId: string,
          currencyName: nullableString,
          basketId: nullableString,
          basketName: nullableString,
          expression: { type: 'string', description: 'Arithmetic on the inputs and earlier values, amounts in coins' },
          value: { type: 'string', description: 'Decimal' },
          uses: array(integer, 'Indexes in this list, from 0, of the earlier steps whose values the expression uses'),
        }),
      },
    }),
  ),
});
