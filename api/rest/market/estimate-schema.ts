/** Schemas of conversion estimates. The daemon makes them and includes pending conversions. */
import { array, coins, integer, nullableString, object, string } from '../../schema/json-schema.ts';

const number = { type: 'number' } as const;
const rate = { ...number, description: 'Units of `to` for one of `from`, after fees and slippage' } as const;

export const conversionEstimate = object({
  chain: string,
  from: string,
  fromId: string,
  to: string,
  toId: string,
  via: { ...nullableString, description: 'The basket; null if its own token is one of the two sides' },
  amount: coins,
  estimatedOut: coins,
  netInput: { ...coins, description: 'Rest of `amount` after the conversion fee' },
  rate,
  feePct: { ...number, description: 'Conversion fee in percent of `amount`' },
  basket: { ...string, description: 'Basket that converts' },
  basketId: string,
  slippagePct: { ...number, description: 'Percent lost against the mid price, without the fee' },
});

const leg = object({
  basket: string,
  basketId: string,
  from: string,
  fromId: string,
  to: string,
  toId: string,
  fee: { ...coins, description: 'Conversion fee, in `from`' },
});

const route = object({
  basket: { ...string, description: 'Basket of the first hop' },
  basketId: string,
  via: { ...nullableString, description: 'Currency between two hops; null for a route through one basket' },
  hops: { ...integer, minimum: 1, maximum: 2 },
  output: coins,
  rate,
  slippage: { ...number, description: 'Share lost against the mid prices, without fees; 0.01 = 1 %' },
  fees: array(object({ currencyId: string, currencyName: string, amount: coins }), 'Conversion fee of each hop'),
  legs: array(leg),
});

export const bestConversion = object({
  chain: string,
  from: string,
  fromId: string,
  to: string,
  toId: string,
  amount: coins,
  best: { ...route, description: 'The first of `routes`' },
  routes: array(route, 'The most promising routes over one basket or two, largest output first'),
});
