/** Schemas of candles. */
import {
  array,
  coins,
  integer,
  isoTime,
  nullableString,
  object,
  string,
  unixTime,
  usd,
} from '../../schema/json-schema.ts';
import { marksMember } from '../../schema/marks.ts';
import { provisionalMembers } from '../../schema/provisional.ts';
import { STEPS } from './steps.ts';

const steps = {
  step: { type: 'string', enum: STEPS },
  from: { ...isoTime, description: 'Start of the first step' },
  to: { ...isoTime, description: 'End of the last step; pass it as `from` to request the steps that follow' },
  ...provisionalMembers,
  ...marksMember,
} as const;
const ends = (price: { readonly type: 'number' }) => ({
  time: { ...unixTime, description: 'Start of the step, seconds since the epoch' },
  open: {
    ...price,
    description: 'Close of the previous candle, however long ago; for the very first candle its first price',
  },
  high: price,
  low: price,
  close: price,
});
const traded = {
  volumeUsd: { ...usd, description: 'Sum over the trades that have a value' },
  trades: integer,
} as const;
const rows = 'Oldest first; a step without a new price has no row';

export const pairCandleSeries = object({
  basket: string,
  basketId: string,
  chain: string,
  base: nullableString,
  baseId: string,
  quote: nullableString,
  quoteId: string,
  ...steps,
  data: array(
    object({
      ...ends({ type: 'number' }),
      volumeBase: {
        ...coins,
        description: 'Sum over the conversions between the two that imports of the step executed',
      },
      volumeQuote: coins,
      ...traded,
    }),
    `${rows}. Prices are units of quote for one of base`,
  ),
});

export const currencyCandleSeries = object({
  currencyId: string,
  name: string,
  ...steps,
  data: array(
    object({
      ...ends({ type: 'number' }),
      volume: {
        ...coins,
        description: 'Coins of the conversions from or to the currency that imports of the step executed, on any chain',
      },
      ...traded,
    }),
    `${rows}. Prices are USD`,
  ),
});
