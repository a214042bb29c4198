/** The newest prices once more, from the anchors that hold their peg. */
import type { PoolClient } from 'pg';
import { parsePrice } from '../../domain/decimal.ts';
import { stepEma } from '../../processors/pricing/ema.ts';
import { type OraclePrices, oraclePrices } from '../../processors/pricing/oracle-prices.ts';
import { nativesOf, type PricingRules, pricingBaskets } from '../../processors/pricing/price-fold.ts';
import type { PriceChain } from '../price/price-chain.ts';
import { restoreCursors } from '../price/restore.ts';
import { type PublishedPrice, publishedFrom } from './published-price.ts';

export interface GuardedChains {
  /** In their order; the first is the default chain. */
  readonly chains: readonly PriceChain[];
  readonly rules: PricingRules;
}

/** Null while derive stands on another branch than the prices: the next pass finds both on one. */
export async function pricesWithout(
  offPeg: ReadonlySet<string>,
  { chains, rules }: GuardedChains,
  client: PoolClient,
): Promise<OraclePrices | null> {
  const views = (await restoreCursors(client, chains)).map(({ view }) => view);
  if (!views.every((view) => view !== null)) return null;
  const anchors = new Set([...rules.anchors].filter((id) => !offPeg.has(id)));
  const baskets = pricingBaskets(rules, views);
  return oraclePrices({ baskets, anchors, natives: nativesOf(rules), minDepth: rules.minBasketDepth });
}

/** The average goes on from what was published before, a step for each newer block that a pass finds. */
export function replacement(
  derived: PublishedPrice,
  prices: OraclePrices,
  currencyId: string,
  before: PublishedPrice | undefined,
): PublishedPrice | null {
  const price = prices.get(currencyId);
  if (!price) return null;
  const { height, time } = derived.row;
  const last = before ?? derived;
  const previous = { value: parsePrice(last.row.emaPrice), time: last.row.time };
  const ema = last.row.height < height ? stepEma(previous, price.usd, time).value : previous.value;
  return publishedFrom(price, { height, time, ema });
}
