/** Candles: what something was worth step by step, and how much of it was traded. */
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
  from: { ...isoTime, description: 'Begin of the first step' },
  to: { ...isoTime, description: 'End of the last step: as `from` it asks for what follows' },
  ...provisionalMembers,
  ...marksMember,
} as const;
const ends = (price: { readonly type: 'number' }) => ({
  time: { ...unixTime, description: 'Begin of the step, seconds since the epoch' },
  open: {
    ...price,
    description: 'Close of the last candle before, whenever that was; of the first one ever its first price',
  },
  high: price,
  low: price,
  close: price,
});
const traded = {
  volumeUsd: { ...usd, description: 'Of the trades that have a value' },
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
      volumeBase: { ...coins, description: 'Of the conversions between the two that imports of the step executed' },
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
