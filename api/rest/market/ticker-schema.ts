/** Tickers in the formats of price aggregators, which dictate the member names and numbers as text. */
import { array, object, string } from '../../schema/json-schema.ts';

const amount = { type: 'string', pattern: '^\\d+\\.\\d{8}$' } as const;
const symbol = { ...string, description: 'A bridged currency has its symbol of the chain that it comes from' } as const;

export const coinGeckoTickers = array(
  object({
    ticker_id: { ...string, description: 'base_currency_target_currency; unique together with pool_id' },
    base_currency: symbol,
    target_currency: symbol,
    pool_id: { ...string, description: 'Basket' },
    last_price: amount,
    base_volume: { ...amount, description: 'Of 24 hours' },
    target_volume: amount,
    bid: { ...amount, description: 'Same as last_price: a basket has one price' },
    ask: amount,
    open: amount,
    high: amount,
    low: amount,
    liquidity_in_usd: amount,
  }),
);

const coinMarketCapTicker = object({
  base_id: { ...string, description: 'i-address' },
  base_name: string,
  base_symbol: symbol,
  quote_id: { ...string, description: 'i-address' },
  quote_name: string,
  quote_symbol: symbol,
  last_price: { ...amount, description: 'In the basket with the most liquidity' },
  base_volume: { ...amount, description: 'Of 24 hours, over all baskets' },
  quote_volume: amount,
});

export const coinMarketCapTickers = {
  type: 'object',
  description: 'By base_id_quote_id',
  additionalProperties: coinMarketCapTicker,
} as const;

export const coinPaprikaTickers = array(
  object({
    symbol: { ...string, description: 'BASE-QUOTE' },
    symbolName: { ...string, description: 'Qualified names: base/quote' },
    volume: { ...amount, description: 'Of base in 24 hours, over all baskets' },
    last: { ...amount, description: 'In the basket with the most liquidity, like open, high and low' },
    high: amount,
    low: amount,
    open: amount,
  }),
);
