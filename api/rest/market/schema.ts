/** Schemas of the market: currencies, pairs, baskets, volumes and prices. */
import { PRICE_STATUSES } from '../../../domain/prices.ts';
import { VOLUME_FEES } from '../../schema/fees.ts';
import {
  array,
  coins,
  confidence,
  height,
  integer,
  isoDate,
  nullableInteger,
  nullableNumber,
  nullableString,
  nullableUsd,
  number,
  object,
  string,
  unixTime,
  usd,
} from '../../schema/json-schema.ts';
import { marksMember } from '../../schema/marks.ts';
import { provisionalMembers } from '../../schema/provisional.ts';

const change24h = { ...nullableNumber, description: 'Percent against 24 hours before the newest block' } as const;
const ofChain = 'In the 24 hours before the newest block of its chain';

export const volumeSeries = array(
  object({
    date: { ...isoDate, description: 'First UTC day of the period; weeks start on Monday' },
    volume: { ...usd, description: 'Each completed conversion counts once' },
    trades: integer,
    fees: { ...usd, description: VOLUME_FEES },
  }),
  'Oldest first, the period of the newest block last',
);

export const marketCurrency = object({
  name: string,
  currencyId: string,
  chain: string,
  price: usd,
  change24h,
  volume24h: { ...usd, description: 'Volume of the trades with this currency on either side' },
  liquidity: { ...usd, description: 'Value of the reserves of live baskets in this currency' },
  confidence,
  sparkline: { type: 'array', items: number, minItems: 24, maxItems: 168, description: 'Hourly prices, oldest first' },
});

export const marketPair = object({
  basket: string,
  basketId: string,
  chain: string,
  base: nullableString,
  baseId: string,
  quote: nullableString,
  quoteId: string,
  price: { ...number, description: 'Units of quote for one of base' },
  open: number,
  high: number,
  low: number,
  close: number,
  volumeBase: { ...coins, description: ofChain },
  volumeQuote: { ...coins, description: ofChain },
  volumeUsd: { ...usd, description: ofChain },
  liquidity: { ...nullableUsd, description: 'USD of both sides in the basket' },
  change24h: { ...nullableNumber, description: 'Percent against 24 hours before the newest block of its chain' },
});

export const marketBasket = object({
  name: string,
  currencyId: string,
  chain: string,
  supply: coins,
  price: nullableUsd,
  tvl: usd,
  volume24h: { ...usd, description: ofChain },
  fees24h: { ...usd, description: `${VOLUME_FEES} ${ofChain}` },
  inceptionHeight: nullableInteger,
  reserves: array(
    object({
      currencyId: string,
      name: nullableString,
      reserve: coins,
      weight: { ...coins, description: '1 = 100 %' },
      priceInReserve: coins,
      usdPrice: nullableUsd,
      usdValue: nullableUsd,
    }),
  ),
});

export const protocolSummary = object({
  tvl: usd,
  identities: integer,
  currencies: integer,
  baskets: integer,
  pbaasChains: integer,
  vrscInPools: coins,
  vrscInPoolsUsd: nullableUsd,
  vrscPrice: nullableUsd,
  volume24h: usd,
  volume30d: usd,
  volumeAllTime: usd,
  fees30d: { ...usd, description: VOLUME_FEES },
  trades30d: integer,
  tradesAllTime: integer,
  ...provisionalMembers,
});

const mover = object({ name: string, currencyId: string, price: usd, change24h });
export const marketOverview = object({
  topMovers: array(mover, 'Largest change either way, at most 10'),
  topBaskets: array(
    object({ name: string, currencyId: string, chain: string, tvl: usd, volume24h: usd }),
    'At most 10',
  ),
  volumeHistory: volumeSeries,
  ...provisionalMembers,
  ...marksMember,
});

export const reserveSeries = object({
  basket: string,
  basketId: string,
  days: integer,
  ...provisionalMembers,
  ...marksMember,
  data: array(
    object({
      time: {
        ...unixTime,
        description: 'Start of a window of five minutes, seconds since the epoch; the values are as of its end',
      },
      height,
      supply: coins,
      tvl: { ...nullableUsd, description: 'Value of the reserves that had a price at the time; null if none had' },
      reserves: { type: 'object', additionalProperties: coins, description: 'By i-address' },
      usdValues: {
        type: 'object',
        additionalProperties: nullableUsd,
        description: 'Value of each reserve, by i-address; null without a price. `tvl` is their sum',
      },
    }),
    'Oldest first, at most 200',
  ),
});

export const priceSeries = object({
  currencyId: string,
  name: string,
  days: integer,
  ...provisionalMembers,
  ...marksMember,
  data: array(
    object({
      time: unixTime,
      price: usd,
      confidence: { ...confidence, description: 'As of the end of the span; without external prices' },
      depth: { ...usd, description: 'USD depth behind the price' },
      status: {
        type: 'string',
        enum: PRICE_STATUSES,
        description: 'stale: last computed more than 100 blocks before the end of the span',
      },
    }),
    'Oldest first, at most `points`',
  ),
});

export const nativePools = object({
  total: coins,
  totalUsd: nullableUsd,
  pools: array(
    object({ basket: string, basketId: string, chain: string, amount: coins, usdValue: nullableUsd, share: number }),
    'Largest first',
  ),
  ...provisionalMembers,
});
