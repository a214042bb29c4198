/** The USD stamp of a settled transfer, and the two regimes by which it is made. */

import { formatDecimal, PRICE_DECIMALS } from '../../domain/decimal.ts';
import type { StampInputs } from '../../domain/stamp-inputs.ts';
import type { Reason, Regime, Rule, Side } from '../../domain/stamps.ts';
import type { PriceLimitsByCurrency } from '../../schemas/config.ts';
import type { TransferFact } from '../../schemas/facts.ts';
import type { NoDelivery } from './no-delivery.ts';
import type { QuotedPrice } from './quoted-price.ts';
import {
  type ConversionSide,
  type DecisionOptions,
  decideBurn,
  decideConversion,
  decideMint,
  NOT_DELIVERED,
  REFUNDED,
  type StampDecision,
} from './stamp-decision.ts';
import { noDeliveryInputs, stampInputs } from './stamp-inputs.ts';

/** Rises when the numbers of a regime change. */
export const REGIME_VERSIONS: Readonly<Record<Regime, number>> = { live: 1, backfill: 1 };

export interface Stamp {
  readonly regime: Regime;
  readonly regimeVersion: number;
  /** Null for a refunded conversion, or one that counts as refunded: it used no price. */
  readonly priceHeight: number | null;
  /** Scaled by 10^38. */
  readonly fromUsd: bigint | null;
  readonly toUsd: bigint | null;
  readonly usdValue: bigint | null;
  readonly rule: Rule;
  readonly reason: Reason | null;
  readonly pricedCurrencyId: string | null;
  /** Scaled by 10^30. */
  readonly pricedCurrencyUsd: bigint | null;
  readonly priceBasket: string | null;
  readonly diverged: boolean;
  readonly provisional: boolean;
  readonly inputs: StampInputs;
}

export type StampKind = 'conversion' | 'burn' | 'mint' | 'refund' | 'no_delivery';

/** Everything that decides a stamp, except the bounds of the backfill regime. */
export interface StampBasis {
  readonly kind: StampKind;
  readonly regime: Regime;
  /** Block of the import. */
  readonly height: number;
  readonly from: ConversionSide | null;
  readonly to: ConversionSide | null;
  readonly inputs: StampInputs;
}

/** Members of a transfer that a stamp and its row need. */
export type SettledTransfer = Pick<
  TransferFact,
  | 'txid'
  | 'vout'
  | 'kind'
  | 'status'
  | 'fromCurrencyId'
  | 'toCurrencyId'
  | 'viaCurrencyId'
  | 'importCurrencyId'
  | 'amountIn'
  | 'amountOut'
  | 'conversionFee'
  | 'source'
  | 'destination'
  | 'requestHeight'
>;

/** The stamp of a conversion that the block of a tick settled. */
export interface StampRow {
  readonly tick: number;
  readonly chain: string;
  /** Height of the import. */
  readonly height: number;
  readonly time: number;
  /** With the status that the stamp gives it: refunded when nothing was delivered. */
  readonly transfer: SettledTransfer;
  readonly stamp: Stamp;
}

/** State at the end of the import's block. */
export interface StampContext {
  readonly regime: Regime;
  readonly height: number;
  readonly prices: ReadonlyMap<string, QuotedPrice>;
  readonly anchors: ReadonlySet<string>;
  readonly nativeCurrencyId: string;
  readonly isBasket: (currencyId: string) => boolean;
  readonly priceLimits: PriceLimitsByCurrency;
}

const NO_INPUTS: StampInputs = { from: null, to: null, prices: [], baskets: [], anchors: [] };

/**
 * Whether a version of a transfer may get a stamp: it was executed by the block at `height`, and is not a send. A settled transfer
 * always gets one; a transfer without a known payout only when a rule decides its outcome (no-delivery.ts).
 */
export function mayBeStamped({ status, importHeight, kind }: TransferFact, height: number): boolean {
  const executed = status === 'completed' || status === 'refunded' || status === 'unmatched';
  return executed && importHeight === height && kind !== 'send';
}

/** Stamp of a transfer that counts as refunded because nothing was delivered. */
export function noDeliveryBasis(found: NoDelivery, { regime, height }: StampContext): StampBasis {
  return { kind: 'no_delivery', regime, height, from: null, to: null, inputs: noDeliveryInputs(found) };
}

/** Sides and prices of a transfer that was settled. */
export function stampBasis(transfer: SettledTransfer, context: StampContext): StampBasis {
  const { regime, height } = context;
  const basis = { regime, height, from: null, to: null, inputs: NO_INPUTS };
  if (transfer.status === 'refunded') return { ...basis, kind: 'refund' };
  const kind = transfer.kind === 'burn' || transfer.kind === 'mint' ? transfer.kind : 'conversion';
  const { fromCurrencyId, toCurrencyId, amountIn, amountOut } = transfer;
  const from = kind === 'mint' || fromCurrencyId === null ? null : conversionSide(fromCurrencyId, amountIn, context);
  const to = kind === 'burn' ? null : conversionSide(toCurrencyId, amountOut ?? 0n, context);
  const quotes = [from, to].flatMap((of) => (of && context.prices.get(of.currencyId)) ?? []);
  return { ...basis, kind, from, to, inputs: stampInputs(from, to, quotes, context.anchors) };
}

/** One side of a conversion, with the properties that decisions depend on. */
export function conversionSide(currencyId: string, amount: bigint, context: StampContext): ConversionSide {
  const quote = context.prices.get(currencyId);
  const isAnchor = context.anchors.has(currencyId);
  const limits = context.regime === 'backfill' ? context.priceLimits[currencyId] : undefined;
  return {
    currencyId,
    amount,
    price: quote?.usd ?? null,
    priceBasket: isAnchor ? null : (quote?.sourceBasket?.basketId ?? null),
    isAnchor,
    isNative: currencyId === context.nativeCurrencyId,
    isBasket: context.isBasket(currencyId),
    ...(limits && { limits }),
  };
}

/** The decision on a basis; the backfill regime passes the sides whose price it does not believe. */
export function decideStamp(basis: StampBasis, outOfBounds: readonly Side[] = []): StampDecision {
  const { from, to } = basis;
  const options: DecisionOptions = { truthDecides: basis.regime === 'backfill', outOfBounds };
  if (from && to) return decideConversion(from, to, options);
  if (from) return decideBurn(from);
  if (to) return decideMint(to);
  return basis.kind === 'no_delivery' ? NOT_DELIVERED : REFUNDED;
}

export function toStamp(basis: StampBasis, decision: StampDecision, provisional: boolean): Stamp {
  const { decidedBy, ...columns } = decision;
  const decided = decidedBy && basis[decidedBy];
  return {
    ...columns,
    regime: basis.regime,
    regimeVersion: REGIME_VERSIONS[basis.regime],
    priceHeight: basis.kind === 'refund' || basis.kind === 'no_delivery' ? null : basis.height,
    pricedCurrencyId: decided?.currencyId ?? null,
    pricedCurrencyUsd: decided?.price ?? null,
    priceBasket: decided?.priceBasket ?? null,
    provisional,
    inputs: basis.inputs,
  };
}

/** Prints a median, which is kept doubled. */
export function formatMedian(twiceMedian: bigint): string {
  return formatDecimal(twiceMedian * 5n, PRICE_DECIMALS + 1);
}
