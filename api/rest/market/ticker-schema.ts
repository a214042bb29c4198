/** Tickers in the formats that price aggregators read; their names and their texts for numbers are theirs. */
import { array, object, string } from '../../schema/json-schema.ts';

const amount = { type: 'string', pattern: '^\\d+\\.\\d{8}$' } as const;
const symbol = { ...string, description: 'As on the chain that a bridged currency comes from' } as const;

export const coinGeckoTickers = array(
  object({
    ticker_id: { ...string, description: 'base_currency_target_currency; with pool_id unique' },
    base_currency: symbol,
    target_currency: symbol,
    pool_id: { ...string, description: 'Basket' },
    last_price: amount,
    base_volume: { ...amount, description: 'Of 24 hours' },
    target_volume: amount,
    bid: { ...amount, description: 'A basket has one price: as last_price' },
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
  last_price: { ...amount, description: 'In the basket of most liquidity' },
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
    last: { ...amount, description: 'In the basket of most liquidity, like open, high and low' },
    high: amount,
    low: amount,
    open: amount,
  }),
);
