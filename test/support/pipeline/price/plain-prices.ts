/**
 * Computes the expected stamps and prices of blocks in a simple way: sorts all blocks and pairs each with every other chain at its greatest
 * height whose clock is not later. It uses no queues, no batches and no caches.
 */
import type { Pool } from 'pg';
import { POSTGRES_PRICES, POSTGRES_STAMPS } from '../../../../pipeline/price/price-rows.ts';
import {
  advanceView,
  type ChainView,
  emptyView,
  type PricedBlock,
  pricedBlock,
} from '../../../../processors/pricing/chain-view.ts';
import {
  createPriceFold,
  emptyFoldState,
  type PriceRow,
  type PricingRules,
} from '../../../../processors/pricing/price-fold.ts';
import type { StampRow } from '../../../../processors/pricing/stamp.ts';
import type { FedBlock } from './facts-feed.ts';

export interface ShownRows {
  /** By chain, txid and vout. */
  readonly stamps: Readonly<Record<string, object>>;
  /** By currency: the newest row, and the newest row of the default chain. */
  readonly prices: Readonly<Record<string, object>>;
}

/** `blocks`: all existing blocks of each chain, in the order of the rules' chains. */
export function plainPrices(rules: PricingRules, blocks: readonly (readonly FedBlock[])[]): ShownRows {
  const chains = rules.chains.map(({ name }, index) => (blocks[index] ?? []).map((block) => priced(name, block)));
  const views = chains.map((of, index) => {
    const all = [emptyView(rules.chains[index]?.name ?? '')];
    for (const block of of) all.push(advanceView(all.at(-1) as ChainView, block));
    return all;
  });
  const ends = chains.map((of) => of.at(-1)?.clock ?? Number.NEGATIVE_INFINITY);
  const order = chains
    .flatMap((of, chain) => of.map((block, index) => ({ block, chain, index })))
    .sort((a, b) => a.block.clock - b.block.clock || a.chain - b.chain || a.index - b.index);
  const isComplete = ({ block, chain }: (typeof order)[number]) =>
    ends.every((clock, other) => other === chain || clock > block.clock);
  // Blocks after an incomplete block wait with it.
  const firstAhead = order.findIndex((place) => !isComplete(place));
  const complete = firstAhead < 0 ? order.length : firstAhead;
  const fold = createPriceFold(rules, emptyFoldState());
  const reached = chains.map(() => 0);
  const stamps = new Map<string, StampRow>();
  const prices = new Map<string, PriceRow>();
  let isAhead = false;
  const correct = (isProvisional: boolean) => {
    for (const row of fold.corrections()) if (isAhead === row.tick >= complete) set(row, isProvisional);
  };
  const set = (row: StampRow, isProvisional: boolean) => {
    const stamp = isProvisional ? { ...row.stamp, provisional: true } : row.stamp;
    stamps.set(`${row.chain} ${row.transfer.txid} ${row.transfer.vout}`, { ...row, stamp });
  };
  for (const [tick, place] of order.entries()) {
    const { block, chain, index } = place;
    if (tick === complete) {
      correct(false);
      isAhead = true;
    }
    const at = views.map((all, other) => {
      const of = chains[other] ?? [];
      while ((of[reached[other] ?? 0]?.clock ?? Number.POSITIVE_INFINITY) <= block.clock)
        reached[other] = (reached[other] ?? 0) + 1;
      return all[other === chain ? index + 1 : (reached[other] ?? 0)] as ChainView;
    });
    const rows = fold.tick(tick, block, at);
    for (const row of rows.stamps) set(row, isAhead);
    for (const row of rows.prices) {
      prices.set(row.price.currencyId, row);
      if (chain === 0) prices.set(`step ${row.price.currencyId}`, row);
    }
  }
  correct(isAhead);
  return {
    stamps: printed(
      [...stamps.values()].map((row) => [row, stampKey(row)]),
      POSTGRES_STAMPS,
    ),
    prices: printed(
      [...prices].map(([key, row]) => [row, key]),
      POSTGRES_PRICES,
    ),
  };
}

/** The same rows, read from Postgres. */
export async function shownRows(pool: Pool, defaultChain: string): Promise<ShownRows> {
  const stamps = await pool.query<Record<string, unknown>>(
    `SELECT *, chain || ' ' || encode(txid, 'hex') || ' ' || vout AS key FROM stamps WHERE generation = 1`,
  );
  const newest = (where: string) => `SELECT DISTINCT ON (currency_id) * FROM prices WHERE generation = 1 AND ${where}
    ORDER BY currency_id, tick DESC`;
  const prices = await pool.query<Record<string, unknown>>(
    `SELECT *, currency_id AS key FROM (${newest('true')}) AS newest
     UNION ALL SELECT *, 'step ' || currency_id FROM (${newest('chain = $1')}) AS step`,
    [defaultChain],
  );
  const keyed = (rows: readonly Record<string, unknown>[]) =>
    Object.fromEntries(rows.map(({ key, generation, tick, ...row }) => [String(key), tidy(row)]));
  return { stamps: keyed(stamps.rows), prices: keyed(prices.rows) };
}

function priced(chain: string, { height, hash, facts }: FedBlock): PricedBlock {
  return pricedBlock(chain, { kind: 'facts', position: height, source: height, height, hash, facts });
}

const stampKey = ({ chain, transfer }: StampRow) => `${chain} ${transfer.txid} ${transfer.vout}`;

interface Printer<Row> {
  readonly columns: readonly string[];
  readonly values: (row: Row) => readonly unknown[];
}

function printed<Row>(
  rows: readonly (readonly [Row, string])[],
  { columns, values }: Printer<Row>,
): Record<string, object> {
  return Object.fromEntries(
    rows.map(([row, key]) => {
      const of = values(row);
      return [key, tidy(Object.fromEntries(columns.map((name, index) => [name, of[index]])))];
    }),
  );
}

const DECIMAL = /^-?\d+\.\d+$/;

/** Omits the tick; decimals without trailing zeros, bytes and JSON as text. */
function tidy({ tick, ...row }: Record<string, unknown>): object {
  return Object.fromEntries(
    Object.entries(row)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, tidyValue(name, value)]),
  );
}

function tidyValue(name: string, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === 'object' && 'hex' in value) return value.hex;
  if (name === 'inputs' || name === 'baskets') {
    return typeof value === 'object' && 'json' in value ? JSON.parse(String(value.json)) : JSON.parse(String(value));
  }
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'string' && DECIMAL.test(value)) return value.replace(/\.?0+$/, '');
  return value;
}
