/** What a conversion would bring, as the daemon estimates it with what is pending. */
import { array, coins, integer, nullableString, object, string } from '../../schema/json-schema.ts';

const number = { type: 'number' } as const;
const rate = { ...number, description: 'Units of `to` for one of `from`, fees and slippage inside' } as const;

export const conversionEstimate = object({
  chain: string,
  from: string,
  fromId: string,
  to: string,
  toId: string,
  via: { ...nullableString, description: 'The basket, where neither side is its own token' },
  amount: coins,
  estimatedOut: coins,
  netInput: { ...coins, description: 'Of `amount`, what is left after the conversion fee' },
  rate,
  feePct: { ...number, description: 'Conversion fee in percent of `amount`' },
  basket: { ...string, description: 'That converts' },
  basketId: string,
  slippagePct: { ...number, description: 'Percent lost against the mid price, the fee apart' },
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
  basket: { ...string, description: 'Of the first hop' },
  basketId: string,
  via: { ...nullableString, description: 'Currency between two hops; null for a route through one basket' },
  hops: { ...integer, minimum: 1, maximum: 2 },
  output: coins,
  rate,
  slippage: { ...number, description: 'Lost against the mid prices, fees apart; 0.01 = 1 %' },
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
  routes: array(route, 'Largest output first; two-hop routes are considered too, the best few by mid price'),
});
