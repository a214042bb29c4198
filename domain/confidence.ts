/** How far a price can be trusted, judged by its sources, its age and the external guard. */
import { ONE_USD } from './decimal.ts';
import { ascending } from './order.ts';
import type { GuardState, PriceStatus, PriceTier } from './prices.ts';

export interface ConfidenceInput {
  readonly tier: PriceTier;
  /** Scaled by 10^30, like all prices in this file. */
  readonly usd: bigint;
  readonly totalDepth: bigint;
  /** The prices, one per basket, that it is the mean of. */
  readonly entryPrices: readonly bigint[];
  /** Blocks between the tip and the price's last step. */
  readonly age: number;
  /** Null without an external price. */
  readonly guard: GuardState | null;
}

const FRESH_BLOCKS = 10;
const STALE_BLOCKS = 100;

/** Integer from 0 to 100. */
export function confidence(input: ConfidenceInput): number {
  const stale = input.age > STALE_BLOCKS ? -30 : 0;
  const fresh = input.age <= FRESH_BLOCKS ? 10 : 0;
  const sum = depthPoints(input.totalDepth) + tierPoints(input.tier) + agreementPoints(input) + fresh + stale;
  return Math.min(100, Math.max(0, sum + guardPoints(input.guard)));
}

/** `stale` overrides healthy and warning; a rejected price stays rejected. */
export function priceStatus(age: number, guard: GuardState | null): PriceStatus {
  if (guard === 'rejected') return 'rejected';
  return age > STALE_BLOCKS ? 'stale' : (guard ?? 'healthy');
}

function depthPoints(depth: bigint): number {
  if (depth > 50_000n * ONE_USD) return 30;
  if (depth > 10_000n * ONE_USD) return 20;
  return depth > 1_000n * ONE_USD ? 10 : 0;
}

function tierPoints(tier: PriceTier): number {
  if (tier <= 1) return 20;
  return tier === 2 ? 10 : 0;
}

function agreementPoints({ usd, entryPrices }: ConfidenceInput): number {
  if (entryPrices.length < 2) return 0;
  const sorted = [...entryPrices].sort(ascending);
  const spread = 100n * ((sorted.at(-1) ?? 0n) - (sorted[0] ?? 0n));
  if (spread < usd) return 20;
  return spread < 3n * usd ? 10 : 0;
}

function guardPoints(guard: GuardState | null): number {
  if (guard === 'healthy') return 10;
  return guard === 'warning' ? 5 : 0;
}
