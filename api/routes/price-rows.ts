/** Prices as `price` has stored them: the newest of a currency and how far it may be trusted. */
import type { ApiContext } from '../api-context.ts';
import { decimal, isoTime } from '../http/values.ts';
import type { Currencies } from '../state/currency-directory.ts';
import type { Snapshot } from '../state/snapshot.ts';

export interface PriceRecord {
  readonly currency_id: string;
  readonly tier: 0 | 1 | 2 | 3;
  readonly usd_price: string;
  readonly ema_price: string;
  readonly total_depth: string;
  readonly source_basket: string | null;
  /** JSON text: [{"basketId","chain","price","depth"}], deepest first. */
  readonly baskets: string;
  readonly height: number;
  readonly time: bigint;
}

export interface PriceEntry {
  readonly basketId: string;
  readonly chain: string;
  readonly price: string;
  readonly depth: string;
}

/** Newest row of each currency; its age counts from its newest step, which blocks of the default chain make. */
const LATEST_SQL = `SELECT p.currency_id, p.tier, p.usd_price, p.total_depth, p.source_basket, p.baskets,
    coalesce(step.ema_price, p.ema_price) AS ema_price, coalesce(step.height, p.height) AS height,
    coalesce(step.time, p.time) AS time
  FROM unnest($2::text[]) AS wanted(id)
  CROSS JOIN LATERAL (SELECT * FROM prices WHERE generation = $1 AND currency_id = wanted.id
    ORDER BY tick DESC LIMIT 1) p
  LEFT JOIN LATERAL (SELECT * FROM prices WHERE generation = $1 AND currency_id = wanted.id AND chain = $3
    ORDER BY tick DESC LIMIT 1) step ON true`;

/** The first configured chain: its blocks make the steps of the moving averages. */
export function defaultChain(api: ApiContext): string {
  return api.config.chains[0]?.name ?? '';
}

/** In no order; a currency without a price has no row. */
export function latestPrices(read: Snapshot, api: ApiContext, ids: readonly string[]): Promise<PriceRecord[]> {
  return read.rows<PriceRecord>(LATEST_SQL, [read.state.generation, ids, defaultChain(api)]);
}

const PRICE_DECIMALS = 30;

/** Decimal text → integer scaled by 10^30. */
function scaled(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(PRICE_DECIMALS, '0').slice(0, PRICE_DECIMALS));
}

const STALE_BLOCKS = 100;

export function entriesOf({ baskets }: Pick<PriceRecord, 'baskets'>): PriceEntry[] {
  return JSON.parse(baskets) as PriceEntry[];
}

/** Confidence of a price as seen from `tip` blocks of the default chain. */
export function confidenceOf(api: ApiContext, row: Omit<PriceRecord, 'time'>, tip: number): number {
  return api.domain.confidence({
    tier: row.tier,
    usd: scaled(row.usd_price),
    totalDepth: scaled(row.total_depth),
    entryPrices: entriesOf(row).map((entry) => scaled(entry.price)),
    age: tip - row.height,
    guard: null,
  });
}

/** Members of a price in the list and of `currentPrice`. */
export function priceAnswer(api: ApiContext, row: PriceRecord, currencies: Currencies, tip: number) {
  return {
    usdPrice: decimal(row.usd_price),
    emaPrice: decimal(row.ema_price),
    source: 'reserve',
    sourceBlock: row.height,
    sourceBasket: currencies.name(row.source_basket) ?? row.source_basket,
    confidence: confidenceOf(api, row, tip),
    status: tip - row.height > STALE_BLOCKS ? 'stale' : 'healthy',
    totalDepth: decimal(row.total_depth),
    updatedAt: isoTime(row.time),
  };
}
