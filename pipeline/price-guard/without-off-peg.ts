/** Computes the newest prices again, only from the anchors that keep their peg. */
import type { PoolClient } from 'pg';
import { parsePrice } from '../../domain/decimal.ts';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { positionsOf } from '../../infra/postgres/stage-positions.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { type ChainView, emptyView } from '../../processors/pricing/chain-view.ts';
import { stepEma } from '../../processors/pricing/ema.ts';
import { type OraclePrices, oraclePrices } from '../../processors/pricing/oracle-prices.ts';
import { nativesOf, type PricingRules, pricingBaskets } from '../../processors/pricing/price-fold.ts';
import type { PriceChain } from '../price/price-chain.ts';
import { restoreView } from '../price/restore.ts';
import { type PublishedPrice, publishedFrom } from './published-price.ts';

export interface GuardedChains {
  /** In configured order; the first is the default chain. */
  readonly chains: readonly PriceChain[];
  readonly rules: PricingRules;
}

/** Returns null while derive is on another branch than the prices; a later pass finds both on the same branch. */
export async function pricesWithout(
  offPeg: ReadonlySet<string>,
  { chains, rules }: GuardedChains,
  client: PoolClient,
): Promise<OraclePrices | null> {
  const views: ChainView[] = [];
  for (const { name } of chains) {
    const view = await newestView(client, name);
    if (!view) return null;
    views.push(view);
  }
  const anchors = new Set([...rules.anchors].filter((id) => !offPeg.has(id)));
  const baskets = pricingBaskets(rules, views);
  return oraclePrices({ baskets, anchors, natives: nativesOf(rules), minDepth: rules.minBasketDepth });
}

const readPlace = rowReader({
  height: columns.number,
  hash: columns.text,
  derived: columns.nullable(columns.text),
});

/** The chain at its newest priced block, complete or provisional; null while derive is on another branch. */
async function newestView(client: PoolClient, chain: string): Promise<ChainView | null> {
  const row = await readRow(
    client,
    readPlace,
    `SELECT place.height, place.hash, blocks.hash AS derived FROM ${positionsOf('price', 'price_ahead')} AS place
     LEFT JOIN blocks USING (chain, height) WHERE place.chain = $1 ORDER BY place.height DESC LIMIT 1`,
    [chain],
  );
  if (!row) return emptyView(chain);
  return row.derived === row.hash ? restoreView(client, chain, row.height) : null;
}

/** The average continues from the one published before, with one step whenever a pass finds a newer block. */
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
