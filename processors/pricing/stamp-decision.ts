/** USD columns of a conversion: which side decides, whether the sides disagree, and why there may be no value. */
import type { PriceLimits } from '../../domain/prices.ts';
import type { Reason, Rule, Side } from '../../domain/stamps.ts';
import { ruleFor, type SideKind, truthSide } from './stamp-rules.ts';

export interface ConversionSide extends SideKind {
  readonly currencyId: string;
  /** Satoshis. */
  readonly amount: bigint;
  /** Scaled by 10^30; null where the currency has no price. */
  readonly price: bigint | null;
  /** Deepest basket behind the price; null for an anchor. */
  readonly priceBasket: string | null;
  /** The configured limits; absent when there are none. */
  readonly limits?: PriceLimits;
}

export interface StampDecision {
  readonly rule: Rule;
  readonly reason: Reason | null;
  /** Scaled by 10^38, as every amount here: exact products. */
  readonly fromUsd: bigint | null;
  readonly toUsd: bigint | null;
  readonly usdValue: bigint | null;
  /** The side whose column is the value. */
  readonly decidedBy: Side | null;
  readonly diverged: boolean;
}

export interface DecisionOptions {
  /** Whether the truth side decides even while the sides agree. */
  readonly truthDecides: boolean;
  /** Sides whose price is not believed. */
  readonly outOfBounds: readonly Side[];
}

type Columns = Readonly<Record<Side, bigint | null>>;

const LIVE: DecisionOptions = { truthDecides: false, outOfBounds: [] };
const NOTHING = { fromUsd: null, toUsd: null, usdValue: null, decidedBy: null, diverged: false } as const;

/** Columns and value of a conversion that was paid out. */
export function decideConversion(from: ConversionSide, to: ConversionSide, options = LIVE): StampDecision {
  const columns = { from: fromColumn(from), to: toColumn(to) };
  const doubted = options.outOfBounds.filter((side) => columns[side] !== null);
  if (doubted.length > 0) return decideMirrored(from, to, columns, doubted);
  const { rule, side, reason } = ruleFor(from, to);
  const shown = { fromUsd: columns.from, toUsd: columns.to, diverged: diverge(columns) };
  if (!side) return { ...NOTHING, rule, reason, ...shown };
  const truth = shown.diverged || options.truthDecides ? truthSide(from, to) : null;
  const decidedBy = withColumn(columns, truth ?? side);
  if (!decidedBy) return { ...NOTHING, rule: 'unpriced', reason: 'no_price' };
  return { ...shown, rule, reason, usdValue: columns[decidedBy], decidedBy };
}

/** A side whose price is not believed takes the other side's USD, when that one can be believed. */
function decideMirrored(
  from: ConversionSide,
  to: ConversionSide,
  columns: Columns,
  doubted: readonly Side[],
): StampDecision {
  const truth = truthSide(from, to);
  const believed = (['from', 'to'] as const).filter((side) => columns[side] !== null && !doubted.includes(side));
  const source = truth && believed.includes(truth) ? truth : believed[0];
  if (!source) return { ...NOTHING, rule: 'unpriced', reason: 'out_of_bounds' };
  const usd = columns[source];
  const { rule, side, reason } = ruleFor(from, to);
  const shown = { ...NOTHING, fromUsd: usd, toUsd: usd, rule };
  return side ? { ...shown, reason: 'mirrored', usdValue: usd, decidedBy: source } : { ...shown, reason };
}

/** A burn shows the USD of what was burnt, a mint the USD of what was minted; neither is a trade. */
export function decideBurn(from: ConversionSide): StampDecision {
  return { ...NOTHING, rule: 'unpriced', reason: 'burn', fromUsd: fromColumn(from) };
}

export function decideMint(to: ConversionSide): StampDecision {
  return { ...NOTHING, rule: 'unpriced', reason: 'mint', toUsd: toColumn(to) };
}

export const REFUNDED: StampDecision = { ...NOTHING, rule: 'unpriced', reason: 'refunded' };
export const NOT_DELIVERED: StampDecision = { ...NOTHING, rule: 'unpriced', reason: 'no_delivery' };

function fromColumn({ amount, price }: ConversionSide): bigint | null {
  return price === null ? null : amount * price;
}

/** When nothing was paid out (dust), the USD is null rather than zero. */
function toColumn({ amount, price }: ConversionSide): bigint | null {
  return price === null || amount === 0n ? null : amount * price;
}

/** True when the sides differ by more than 10 % of the larger one. */
function diverge({ from, to }: Columns): boolean {
  if (from === null || to === null) return false;
  const [smaller, larger] = from < to ? [from, to] : [to, from];
  return 10n * (larger - smaller) > larger;
}

function withColumn(columns: Columns, preferred: Side): Side | null {
  const other = preferred === 'from' ? 'to' : 'from';
  if (columns[preferred] !== null) return preferred;
  return columns[other] === null ? null : other;
}
