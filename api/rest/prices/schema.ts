/** Schemas of the oracle: USD prices and the baskets that they are computed from. */
import { PRICE_STATUSES } from '../../../domain/prices.ts';
import {
  array,
  boolean,
  confidence,
  height,
  integer,
  isoTime,
  nullableString,
  nullableUsd,
  object,
  string,
  usd,
} from '../../schema/json-schema.ts';
import { marksMember } from '../../schema/marks.ts';
import { provisionalMembers } from '../../schema/provisional.ts';

const status = { type: 'string', enum: PRICE_STATUSES } as const;

const provisional = {
  ...boolean,
  description: 'Whether the price may still be corrected, because another chain has not reached this time',
} as const;

const price = {
  usdPrice: { ...usd, description: 'Spot, weighted by depth' },
  emaPrice: { ...usd, description: 'Moving average, time constant 600 s of chain time' },
  source: { type: 'string', enum: ['reserve'] },
  sourceBlock: { ...height, description: 'Newest block of the default chain at which this price was computed' },
  sourceBasket: { ...nullableString, description: 'Deepest basket; null for an anchor that no basket holds' },
  confidence,
  status,
  totalDepth: { ...usd, description: 'USD depth behind the price' },
  updatedAt: { ...isoTime, description: 'Time of sourceBlock' },
  provisional,
  waitsFor: {
    ...nullableString,
    description:
      'For a provisional price: the slowest chain; the price is final once the clock of that chain has passed it',
  },
} as const;

export const oraclePrices = array(object({ currencyId: string, currencyName: nullableString, ...price }));

const historyRow = object({
  usdPrice: usd,
  blockHeight: height,
  basket: nullableString,
  confidence,
  createdAt: isoTime,
  provisional,
});

export const PRICE_INTERVALS = ['block', '5m', '1h', '1d'] as const;

export const oracleHistory = object({
  currencyId: string,
  interval: { type: 'string', enum: PRICE_INTERVALS },
  count: { ...integer, description: 'Rows of this answer' },
  ...provisionalMembers,
  ...marksMember,
  data: array(historyRow, 'Newest first; for each interval its last priced block'),
  nextCursor: {
    type: ['string', 'null'],
    description: 'Pass it as `cursor` to continue after the last row; null at the end',
  },
});

export const oracleDetail = object({
  currencyId: string,
  currencyName: nullableString,
  currentPrice: object(price),
  liveCalculation: object({
    weightedPrice: usd,
    baskets: array(
      object({ basket: nullableString, basketId: string, chain: string, price: usd, depth: usd, weight: usd }),
      'Deepest first',
    ),
  }),
  guardRail: object({
    externalPrice: nullableUsd,
    deviationPct: nullableUsd,
    status: nullableString,
    source: nullableString,
    checkedAt: nullableString,
  }),
  priceHistory: array(historyRow, 'At most the newest 50, newest first; …/history has all'),
});
