/** The newest stored price of each currency, and how far it can be trusted. */

import { confidence, priceStatus } from '../../../domain/confidence.ts';
import { parsePrice } from '../../../domain/decimal.ts';
import { GUARD_STATES, PRICE_TIERS } from '../../../domain/prices.ts';
import { slowestChain } from '../../../domain/slowest-chain.ts';
import { columns, jsonReader, type RowOf, rowReader } from '../../../infra/row-reader.ts';
import { readPriceEntries, readPublishedPrice } from '../../../infra/stored-json/prices.ts';
import type { ApiContext } from '../../api-context.ts';
import { decimal, isoTime } from '../../http/values.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import type { Snapshot } from '../../state/snapshot.ts';

/** Columns of `prices`. */
export const PRICE = {
  currency_id: columns.text,
  tier: columns.choice(PRICE_TIERS),
  usd_price: columns.text,
  ema_price: columns.text,
  total_depth: columns.text,
  source_basket: columns.nullable(columns.text),
  /** JSON text: [{"basketId","chain","price","depth"}], deepest first. */
  baskets: columns.text,
  height: columns.number,
  time: columns.bigint,
};
export type PriceRecord = RowOf<typeof PRICE>;

const readGuarded = rowReader({
  ...PRICE,
  provisional: columns.boolean,
  /** JSON texts. */
  guard: columns.nullable(columns.text),
  published: columns.nullable(columns.text),
});

/** Comparison of a price with external feeds. */
const readGuard = jsonReader(
  columns.object({
    status: columns.choice(GUARD_STATES),
    externalPrice: columns.nullable(columns.text),
    deviationPct: columns.nullable(columns.text),
    source: columns.nullable(columns.text),
    /** Milliseconds since the epoch. */
    checkedAt: columns.nullable(columns.number),
  }),
);
export type GuardView = ReturnType<typeof readGuard>;

/** The price as published. */
export interface LatestPrice extends PriceRecord {
  /** The price derived from the chain alone. */
  readonly derived: PriceRecord;
  readonly guard: GuardView | null;
  /** Whether the price may still be corrected, because some chain's clock has not passed its block. */
  readonly provisional: boolean;
}

/** Newest row of each currency, as derived and as published. Its age counts from its newest row at a block of the default chain. */
const LATEST_SQL = `SELECT p.currency_id, p.tier, p.usd_price, p.total_depth, p.source_basket, p.baskets,
    coalesce(step.ema_price, p.ema_price) AS ema_price, coalesce(step.height, p.height) AS height,
    coalesce(step.time, p.time) AS time, p.tick > (SELECT coalesce(max(tick), -1) FROM price_ticks) AS provisional,
    guard.published, CASE WHEN guard.currency_id IS NOT NULL THEN jsonb_build_object(
      'status', guard.status, 'externalPrice', guard.external_price::text, 'deviationPct', guard.deviation_pct::text,
      'source', guard.source, 'checkedAt', floor(extract(epoch FROM guard.checked_at) * 1000)) END AS guard
  FROM unnest($2::text[]) AS wanted(id)
  CROSS JOIN LATERAL (SELECT * FROM prices WHERE generation = $1 AND currency_id = wanted.id
    ORDER BY tick DESC LIMIT 1) p
  LEFT JOIN LATERAL (SELECT * FROM prices WHERE generation = $1 AND currency_id = wanted.id AND chain = $3
    ORDER BY tick DESC LIMIT 1) step ON true
  LEFT JOIN price_guards guard ON guard.currency_id = wanted.id`;

/** The published price of the currency $2; no row without a price. */
export const LATEST_USD_SQL = `SELECT coalesce(guard.published ->> 'usdPrice', p.usd_price::text) AS usd_price
  FROM (SELECT usd_price FROM prices WHERE generation = $1 AND currency_id = $2 ORDER BY tick DESC LIMIT 1) p
  LEFT JOIN price_guards guard ON guard.currency_id = $2`;

/** Height from which the age of prices is counted: the tip of the default chain, even if prices have not reached it. */
export function priceTip({ state }: Snapshot, api: ApiContext): number {
  return state.derived.get(defaultChain(api))?.height ?? 0;
}

/** The first configured chain: its blocks are the steps of the moving averages. */
export function defaultChain(api: ApiContext): string {
  return api.config.chains[0]?.name ?? '';
}

/** The slowest chain by the snapshot, because the answer is cached as long as the snapshot is current. A chain without blocks is slowest. */
function waitedFor({ state }: Snapshot, api: ApiContext): string | null {
  return slowestChain(api.config.chains, ({ name }) => state.derived.get(name)?.clock ?? -1)?.name ?? null;
}

/** Published prices in the order of `ids`; a currency without a price has no row. */
export async function latestPrices(read: Snapshot, api: ApiContext, ids: readonly string[]): Promise<LatestPrice[]> {
  if (ids.length === 0) return [];
  const rows = await read.rows(readGuarded, LATEST_SQL, [read.state.generation, ids, defaultChain(api)]);
  const place = new Map(ids.map((id, index) => [id, index]));
  const inOrder = rows.sort((a, b) => (place.get(a.currency_id) ?? 0) - (place.get(b.currency_id) ?? 0));
  return inOrder.map(({ guard, published, provisional, ...derived }) => ({
    ...derived,
    provisional,
    ...(published !== null && publishedRecord(readPublishedPrice(published))),
    derived,
    guard: guard === null ? null : readGuard(guard),
  }));
}

function publishedRecord(row: ReturnType<typeof readPublishedPrice>): Omit<PriceRecord, 'currency_id'> {
  return {
    tier: row.tier,
    usd_price: row.usdPrice,
    ema_price: row.emaPrice,
    total_depth: row.totalDepth,
    source_basket: row.sourceBasket,
    baskets: JSON.stringify(row.baskets),
    height: row.height,
    time: BigInt(row.time),
  };
}

/** Confidence of a price as seen from `tip` blocks of the default chain. */
export function confidenceOf(
  row: Pick<PriceRecord, 'tier' | 'usd_price' | 'total_depth' | 'baskets' | 'height'>,
  tip: number,
  guard: GuardView | null = null,
): number {
  return confidence({
    tier: row.tier,
    usd: parsePrice(row.usd_price),
    totalDepth: parsePrice(row.total_depth),
    entryPrices: readPriceEntries(row.baskets).map((entry) => parsePrice(entry.price)),
    age: tip - row.height,
    // Without an external price, the price was replaced because an anchor left the set: no feed has checked this price itself.
    guard: guard?.externalPrice == null ? null : guard.status,
  });
}

/** Members of a price in the list and in `currentPrice`; `tip` is the block of the default chain from which its age counts. */
export function priceAnswer(
  read: Snapshot,
  api: ApiContext,
  row: LatestPrice,
  currencies: Currencies,
  tip = priceTip(read, api),
) {
  return {
    usdPrice: decimal(row.usd_price),
    emaPrice: decimal(row.ema_price),
    source: 'reserve' as const,
    sourceBlock: row.height,
    sourceBasket: currencies.name(row.source_basket) ?? row.source_basket,
    confidence: confidenceOf(row, tip, row.guard),
    status: priceStatus(tip - row.height, row.guard?.status ?? null),
    totalDepth: decimal(row.total_depth),
    updatedAt: isoTime(row.time),
    provisional: row.provisional,
    waitsFor: row.provisional ? waitedFor(read, api) : null,
  };
}
