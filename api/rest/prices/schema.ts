/** The oracle: USD prices and what they were made of. */
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

const price = {
  usdPrice: { ...usd, description: 'Spot, weighted by depth' },
  emaPrice: { ...usd, description: 'Moving average, time constant 600 s of chain time' },
  source: { type: 'string', enum: ['reserve'] },
  sourceBlock: { ...height, description: 'Newest block of the default chain that this price was computed at' },
  sourceBasket: { ...nullableString, description: 'Deepest basket; null for an anchor that no basket holds' },
  confidence,
  status,
  totalDepth: { ...usd, description: 'USD depth behind the price' },
  updatedAt: { ...isoTime, description: 'Time of sourceBlock' },
  provisional: { ...boolean, description: 'Another chain has not come this far yet: the price may still be corrected' },
  waitsFor: {
    ...nullableString,
    description:
      'Of a provisional price: the chain whose clock has come least far; the price stands once that has passed',
  },
} as const;

export const oraclePrices = array(object({ currencyId: string, currencyName: nullableString, ...price }));

const historyRow = object({
  usdPrice: usd,
  blockHeight: height,
  basket: nullableString,
  confidence,
  createdAt: isoTime,
  provisional: { ...boolean, description: 'Beyond what every chain has passed: the price may still be corrected' },
});

export const PRICE_INTERVALS = ['block', '5m', '1h', '1d'] as const;

export const oracleHistory = object({
  currencyId: string,
  interval: { type: 'string', enum: PRICE_INTERVALS },
  count: { ...integer, description: 'Rows of this answer' },
  ...provisionalMembers,
  ...marksMember,
  data: array(historyRow, 'Newest first; of an interval its last priced block'),
  nextCursor: {
    type: ['string', 'null'],
    description: 'Where `limit` has cut the answer: as `cursor` it goes on after the last row; null at the end',
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
  priceHistory: array(historyRow, 'The newest 50 at most, newest first; …/history has all'),
});
