/** Records of the log's topics. `position` is ours (0, 1, 2 … in a partition), never the broker's offset. */

import type { Reason, Regime, Rule } from '../domain/stamps.ts';
import type { Fact, TransferFact } from './facts.ts';

export const TOPICS = ['blocks', 'facts', 'stamps'] as const;
export type Topic = (typeof TOPICS)[number];

export interface BlockAppended {
  readonly kind: 'block';
  readonly position: number;
  readonly height: number;
  readonly hash: string;
  /** Null for the genesis block. */
  readonly previousHash: string | null;
  readonly time: number;
  /** `getblock hash 2` as the daemon sent it (the result member's bytes, UTF-8). */
  readonly block: Uint8Array;
}

export interface ChainRewound {
  readonly kind: 'rewind';
  readonly position: number;
  /** The newest block that stays. */
  readonly height: number;
  readonly hash: string;
  /** The block that was newest before. */
  readonly fromHeight: number;
}

export type BlocksRecord = BlockAppended | ChainRewound;

/** One record of `facts` for each record of `blocks`. */
export interface FactsAppended {
  readonly kind: 'facts';
  readonly position: number;
  /** Position of the block record that the facts follow from. */
  readonly source: number;
  readonly height: number;
  readonly hash: string;
  readonly facts: readonly Fact[];
}

export interface FactsRewound extends ChainRewound {
  readonly source: number;
}

export type FactsRecord = FactsAppended | FactsRewound;

/** A price that a block changed. Decimals as text, exact. */
export interface PriceChange {
  readonly currencyId: string;
  readonly tier: number;
  readonly usdPrice: string;
  readonly emaPrice: string;
  readonly totalDepth: string;
  readonly sourceBasketId: string | null;
}

/** The fields of a transfer that an event contains. */
export type TransferSummary = Pick<
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
  | 'conversionFee'
  | 'amountOut'
  | 'destination'
  | 'source'
  | 'importSystemId'
  | 'sourceSystemId'
  | 'requestHeight'
  | 'requestTime'
  | 'exportTxid'
  | 'exportVout'
  | 'exportIndex'
  | 'importTxid'
  | 'importHeight'
>;

/** A conversion that a block settled, with its value. Decimals as text, exact. */
export interface StampedConversion extends TransferSummary {
  readonly regime: Regime;
  readonly fromUsd: string | null;
  readonly toUsd: string | null;
  readonly usdValue: string | null;
  readonly rule: Rule;
  readonly reason: Reason | null;
  readonly pricedCurrencyId: string | null;
  readonly pricedCurrencyUsd: string | null;
  readonly priceBasketId: string | null;
  readonly diverged: boolean;
  /** Whether the stamp's own rules may still correct it. */
  readonly provisional: boolean;
}

export interface StampList {
  readonly prices: readonly PriceChange[];
  readonly stamps: readonly StampedConversion[];
}

/** One record for each block that was priced. */
export interface StampsAppended extends StampList {
  readonly kind: 'stamps';
  readonly position: number;
  /** Position of the record of topic `facts` that they follow from. */
  readonly source: number;
  readonly height: number;
  readonly hash: string;
  readonly time: number;
  /** Whether another chain's clock had not passed this block yet. */
  readonly provisional: boolean;
}

export interface StampsRewound {
  readonly kind: 'rewind';
  readonly position: number;
  readonly source: number;
  /** The newest block whose published stamps still hold; −1 if none. */
  readonly height: number;
  readonly hash: string;
  /** The last published block. */
  readonly fromHeight: number;
  /** `repriced`: the blocks remain, but data of another chain changed their prices. */
  readonly reason: 'reorg' | 'repriced';
}

/** Replaces the prices and stamps of a block that is still part of the chain; the records of later blocks remain valid. */
export interface StampsCorrected {
  readonly kind: 'correction';
  readonly position: number;
  readonly source: number;
  readonly height: number;
  readonly hash: string;
  readonly time: number;
  readonly was: StampList;
  readonly wasProvisional: boolean;
  readonly now: StampList;
  readonly provisional: boolean;
}

export type StampsRecord = StampsAppended | StampsCorrected | StampsRewound;
