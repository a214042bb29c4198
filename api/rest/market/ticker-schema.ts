/** Tickers in the formats of price aggregators, which dictate the member names and numbers as text. */
import { array, object, string } from '../../schema/json-schema.ts';

const amount = { type: 'string', pattern: '^\\d+\\.\\d{8}$' } as const;
const price = {
  type: 'string',
  pattern: '^\\d+\\.\\d{8,38}$',
  description: '8 decimals, or 6 significant digits for a price below 0.0001',
} as const;
const symbol = { ...string, description: 'A bridged currency has its symbol of the chain that it comes from' } as const;

export const coinGeckoTickers = array(
  object({
    ticker_id: { ...string, description: 'base_currency_target_currency; unique together with pool_id' },
    base_currency: symbol,
    target_currency: symbol,
    pool_id: { ...string, description: 'Basket' },
    last_price: price,
    base_volume: { ...amount, description: 'Of 24 hours' },
    target_volume: amount,
    bid: { ...price, description: 'Same as last_price: a basket has one price' },
    ask: price,
    open: price,
    high: price,
    low: price,
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
  last_price: { ...price, description: `In the basket with the most liquidity. ${price.description}` },
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
    last: {
      ...price,
      description: `In the basket with the most liquidity, like open, high and low. ${price.description}`,
    },
    high: price,
    low: price,
    open: price,
  }),
);
