/** One look of the guard at the newest prices: its verdict on each, and the price that is published instead. */
import type { PoolClient } from 'pg';
import { isOffPeg, judgePrice } from '../../processors/pricing/price-guard.ts';
import type { ExternalPrices } from './external-prices.ts';
import { type GoodPrice, type GuardRow, readDerivedPrices } from './guard-store.ts';
import type { PublishedPrice } from './published-price.ts';
import { type GuardedChains, pricesWithout, replacement } from './without-off-peg.ts';

/** State that the guard keeps from pass to pass. */
export interface GuardMemory {
  readonly external: ExternalPrices;
  readonly good: Map<string, GoodPrice>;
  /** Each price by the remaining anchors, while an anchor is off its peg. */
  replaced: ReadonlyMap<string, PublishedPrice>;
}

/** Runs in one snapshot. Returns null when the stores are between two branches. */
export async function guardPass(
  client: PoolClient,
  guarded: GuardedChains,
  memory: GuardMemory,
): Promise<GuardRow[] | null> {
  const derived = await readDerivedPrices(client, guarded.chains[0]?.name ?? '');
  const { external, good } = memory;
  const offPeg = new Set([...guarded.rules.anchors].filter((id) => isOffPeg(external.get(id)?.price ?? null)));
  const prices = offPeg.size > 0 ? await pricesWithout(offPeg, guarded, client) : null;
  if (offPeg.size > 0 && !prices) return null;
  // An anchor that a feed has confirmed may have left its peg while no feed reports it.
  const isAnchorSilent = [...guarded.rules.anchors].some((id) => good.get(id)?.isConfirmed && !external.has(id));
  const replaced = new Map<string, PublishedPrice>();
  const rows: GuardRow[] = [];
  for (const [currencyId, price] of derived) {
    const instead = prices ? replacement(price, prices, currencyId, memory.replaced.get(currencyId)) : undefined;
    if (instead) replaced.set(currencyId, instead);
    const externalPrice = external.get(currencyId) ?? null;
    const before = good.get(currencyId);
    const verdict = judgePrice({
      derived: price,
      replaced: instead,
      external: externalPrice?.price ?? null,
      good: before?.price ?? null,
    });
    const isConfirmed = externalPrice !== null;
    // A price that no feed reports is good as long as no better one is known.
    const isBetter = isConfirmed || !before || !(before.isConfirmed || isAnchorSilent);
    if (verdict.status !== 'rejected' && isBetter) {
      good.set(currencyId, { price: verdict.published ?? price, isConfirmed });
    }
    if (externalPrice || verdict.published || verdict.status === 'rejected')
      rows.push({ currencyId, external: externalPrice, verdict });
  }
  memory.replaced = replaced;
  return rows;
}
