/** The recording after derivation and pricing, and the golden numbers that an independent program computed from it. */

import { coins } from '../../../../domain/basket-state.ts';
import { advanceView, type ChainView, emptyView, pricedBlock } from '../../../../processors/pricing/chain-view.ts';
import {
  createPriceFold,
  emptyFoldState,
  type PriceRow,
  type PricingRules,
} from '../../../../processors/pricing/price-fold.ts';
import { regimePlan } from '../../../../processors/pricing/regime-plan.ts';
import type { StampKind, StampRow } from '../../../../processors/pricing/stamp.ts';
import { PUBLISHED_FACTS } from '../../../../schemas/facts.ts';
import type { FactsAppended } from '../../../../schemas/log-records.ts';
import { RECORDED_CHAIN, recordedText } from '../recorded-chain.ts';
import { foldRecording as foldBlocks } from '../recorded-fold.ts';

export interface GoldenScenario {
  readonly name: 'live' | 'backfill' | 'mixed';
  readonly cutover: string;
  readonly minBasketAge: number;
  readonly minBasketDepthUsd: number;
}

export interface GoldenPrice {
  readonly currencyId: string;
  readonly tier: number;
  readonly usdPrice: string;
  readonly emaPrice: string;
  readonly sourceBlock: number;
  readonly sourceBasket: string | null;
  readonly totalDepth: string;
  readonly confidence: number;
  readonly status: string;
  readonly baskets: readonly { readonly basketId: string; readonly price: string; readonly depth: string }[];
}

export interface GoldenHeight {
  readonly scenario: string;
  readonly height: number;
  readonly prices: readonly GoldenPrice[];
  readonly backfill: Readonly<Record<string, string>> | null;
}

export interface GoldenStamp {
  readonly scenario: string;
  readonly txid: string;
  readonly vout: number;
  readonly type: StampKind;
  readonly status: string;
  readonly importHeight: number;
  readonly amountInSat: string;
  readonly amountOutSat: string | null;
  readonly fromUsd: string | null;
  readonly toUsd: string | null;
  readonly usdValue: string | null;
  readonly rule: string;
  readonly pricedCurrencyId: string | null;
  readonly pricedCurrencyUsd: string | null;
  readonly priceBasket: string | null;
  readonly priceHeight: number | null;
  readonly regime: string | null;
  readonly diverged: boolean;
  readonly reason: string | null;
  readonly derivation: {
    readonly bounds?: Readonly<
      Record<string, { readonly median: string; readonly daily: Readonly<Record<string, string>> }>
    >;
  };
}

export interface Golden<Row> {
  readonly anchors: readonly string[];
  readonly tiphash: string;
  readonly scenarios: readonly GoldenScenario[];
  readonly rows: readonly Row[];
}

export function goldenPrices(): Golden<GoldenHeight> {
  const { heights, ...head } = JSON.parse(recordedText('golden/prices-A.json'));
  return { ...head, rows: heights };
}

export function goldenStamps(): Golden<GoldenStamp> {
  const { stamps, ...head } = JSON.parse(recordedText('golden/stamps-A.json'));
  return { ...head, rows: stamps };
}

export function goldenRules(scenario: GoldenScenario, anchors: readonly string[]): PricingRules {
  const { name, nativeCurrencyId } = RECORDED_CHAIN;
  return {
    chains: [{ name, nativeCurrencyId, minBasketAge: scenario.minBasketAge }],
    anchors: new Set(anchors),
    priceLimits: {},
    minBasketDepth: coins(BigInt(scenario.minBasketDepthUsd) * 100_000_000n),
    regimes: regimePlan(Date.parse(scenario.cutover) / 1000),
  };
}

/** Every facts record of the recording, as derive publishes it. */
export function recordedFacts(): FactsAppended[] {
  return foldBlocks().derived.map(({ block: { height, hash }, facts }, position) => {
    const published = facts.filter(({ type }) => PUBLISHED_FACTS.includes(type));
    return { kind: 'facts', position, source: position, height, hash, facts: published };
  });
}

export interface FoldedRecording {
  readonly prices: readonly PriceRow[];
  /** Stamps as of the tip. */
  readonly stamps: ReadonlyMap<string, StampRow>;
  /** Views by height. */
  readonly views: readonly ChainView[];
}

export function foldRecording(rules: PricingRules, records: readonly FactsAppended[]): FoldedRecording {
  const fold = createPriceFold(rules, emptyFoldState());
  const prices: PriceRow[] = [];
  const stamps = new Map<string, StampRow>();
  const views: ChainView[] = [];
  let view = emptyView(RECORDED_CHAIN.name);
  for (const record of records) {
    const block = pricedBlock(RECORDED_CHAIN.name, record);
    view = advanceView(view, block);
    views.push(view);
    const rows = fold.tick(record.height, block, [view]);
    prices.push(...rows.prices);
    for (const row of rows.stamps) stamps.set(`${row.transfer.txid}:${row.transfer.vout}`, row);
  }
  for (const row of fold.corrections()) stamps.set(`${row.transfer.txid}:${row.transfer.vout}`, row);
  return { prices, stamps, views };
}
