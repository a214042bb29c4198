/** Prices and stamps as a fold over the blocks of all chains in the order of their clocks. Pure except for its own state. */

import type { BasketState } from '../../domain/basket-state.ts';
import { toPrice } from '../../domain/decimal.ts';
import { getOrInsert } from '../../domain/get-or-insert.ts';
import type { Rational } from '../../domain/rational.ts';
import type { PriceLimitsByCurrency } from '../../schemas/config.ts';
import type { TransferFact } from '../../schemas/facts.ts';
import { type BackfillRow, type BackfillRules, type BackfillState, createBackfillFold } from './backfill-fold.ts';
import { type ChainView, liveBaskets, type PricedBlock } from './chain-view.ts';
import { type Ema, stepEma } from './ema.ts';
import { noDelivery } from './no-delivery.ts';
import { type OraclePrice, type OraclePrices, oraclePrices } from './oracle-prices.ts';
import { decideStamp, noDeliveryBasis, type StampContext, type StampRow, stampBasis, toStamp } from './stamp.ts';

export interface PricingChain {
  readonly name: string;
  readonly nativeCurrencyId: string;
  /** Blocks. */
  readonly minBasketAge: number;
}

export interface PricingRules extends BackfillRules {
  /** In configured order; the first is the default chain. */
  readonly chains: readonly PricingChain[];
  /** USD. */
  readonly minBasketDepth: Rational;
  readonly priceLimits: PriceLimitsByCurrency;
}

/** The values by which a currency's price is compared with the next one; `usd` and `totalDepth` are scaled by 10^30. */
export interface PriceMark {
  readonly usd: bigint;
  readonly tier: number;
  readonly totalDepth: bigint;
  readonly sourceBasket: string | null;
}

/** State that the fold carries from tick to tick, apart from the views of the chains. */
export interface PriceFoldState extends BackfillState {
  readonly emas: Map<string, Ema>;
  /** Newest row of each currency. */
  readonly marks: Map<string, PriceMark>;
}

export interface PriceRow {
  readonly tick: number;
  readonly block: PricedBlock;
  readonly price: OraclePrice;
  readonly mark: PriceMark;
  /** Scaled by 10^30. */
  readonly ema: bigint;
  /** Whether the mark differs from the currency's previous one. */
  readonly isChange: boolean;
}

export interface TickRows {
  readonly prices: readonly PriceRow[];
  readonly stamps: readonly StampRow[];
  readonly backfill: readonly BackfillRow[];
}

export interface PriceFold {
  /** Folds one block; `views` are the views of all chains at that moment, in the order of the chains. */
  tick(tick: number, block: PricedBlock, views: readonly ChainView[]): TickRows;
  /** The context for stamping a conversion of the block that was folded last. */
  stampContext(block: PricedBlock, views: readonly ChainView[]): StampContext;
  /** Stamps of earlier ticks that have changed since; call it after the last tick of a batch. */
  corrections(): readonly StampRow[];
  /** Stamps that later ticks may still correct, as they are now. */
  openStamps(): readonly StampRow[];
  /** An independent fold that continues from the current state. */
  copy(): PriceFold;
}

export function emptyFoldState(): PriceFoldState {
  return { emas: new Map(), clocks: new Map(), marks: new Map(), daily: new Map(), open: [] };
}

const NO_PRICES: OraclePrices = new Map();
const NO_ROWS: readonly never[] = [];

/** Live baskets of all chains, in the order of the chains; `views` are in that order too. */
export function pricingBaskets({ chains }: PricingRules, views: readonly ChainView[]): readonly BasketState[] {
  return chains.flatMap((chain, index) => {
    const view = views[index];
    return view && view.trading.length > 0 ? liveBaskets(view, chain.minBasketAge) : NO_ROWS;
  });
}

/** Native currency of each chain. */
export function nativesOf({ chains }: PricingRules): ReadonlyMap<string, string> {
  return new Map(chains.map((chain) => [chain.name, chain.nativeCurrencyId]));
}

export function createPriceFold(rules: PricingRules, state: PriceFoldState): PriceFold {
  const { emas, marks } = state;
  const natives = nativesOf(rules);
  const defaultChain = rules.chains[0]?.name;
  const backfill = createBackfillFold(rules, state);
  const priceMarks = new WeakMap<OraclePrice, PriceMark>();
  let live: readonly BasketState[] = NO_ROWS;
  let prices = NO_PRICES;

  function pricesAt(views: readonly ChainView[]): OraclePrices {
    const baskets = pricingBaskets(rules, views);
    if (prices === NO_PRICES || !isSameList(baskets, live)) {
      prices = oraclePrices({ baskets, anchors: rules.anchors, natives, minDepth: rules.minBasketDepth });
      live = baskets;
    }
    return prices;
  }

  function markOf(price: OraclePrice): PriceMark {
    return getOrInsert(priceMarks, price, () => {
      const sourceBasket = price.sourceBasket?.basketId ?? null;
      return { usd: price.usd, tier: price.tier, totalDepth: toPrice(price.totalDepth), sourceBasket };
    });
  }

  function priceRows(tick: number, block: PricedBlock, views: readonly ChainView[]): PriceRow[] {
    const rows: PriceRow[] = [];
    const isStep = block.chain === defaultChain;
    for (const price of pricesAt(views).values()) {
      if (!isShown(price, views)) continue;
      const { currencyId } = price;
      const mark = markOf(price);
      const isChange = !isSameMark(mark, marks.get(currencyId));
      let ema = emas.get(currencyId);
      if (isStep) {
        ema = stepEma(ema, price.usd, block.time);
        emas.set(currencyId, ema);
      } else if (!ema || !isChange) continue;
      marks.set(currencyId, mark);
      rows.push({ tick, block, price, mark, ema: ema.value, isChange });
    }
    return rows;
  }

  function stampContext({ chain, height, time }: PricedBlock, views: readonly ChainView[]): StampContext {
    const regime = rules.regimes.regimeOf(chain, time);
    return {
      regime,
      height,
      prices: regime === 'backfill' ? backfill.prices(chain) : prices,
      anchors: rules.anchors,
      nativeCurrencyId: natives.get(chain) ?? '',
      isBasket: (currencyId: string) => views.some((view) => view.currencies.get(currencyId) === true),
      priceLimits: rules.priceLimits,
    };
  }

  function stampRows(tick: number, block: PricedBlock, views: readonly ChainView[]): StampRow[] {
    const { chain, height, time } = block;
    const context = stampContext(block, views);
    return block.transfers.flatMap((transfer): readonly StampRow[] => {
      const origin = { tick, chain, height, time, transfer };
      if (transfer.status === 'unmatched') return undelivered(origin, block, views, context);
      const basis = stampBasis(transfer, context);
      if (context.regime === 'backfill') return [backfill.stamp(origin, basis)];
      return [{ ...origin, stamp: toStamp(basis, decideStamp(basis), false) }];
    });
  }

  return {
    tick(tick, block, views) {
      const rows = priceRows(tick, block, views);
      const view = views.find(({ chain }) => chain === block.chain);
      const backfillRows = view ? backfill.tick(tick, block, view) : NO_ROWS;
      const stamps = block.transfers.length > 0 ? stampRows(tick, block, views) : NO_ROWS;
      return { prices: rows, backfill: backfillRows, stamps };
    },
    stampContext,
    corrections: () => backfill.corrections(),
    openStamps: () => backfill.open().map(({ row }) => row),
    copy: () => createPriceFold(rules, { ...copyOf(state), open: backfill.open() }),
  };
}

/** An anchor is worth 1 for ever; it is shown once its currency exists. */
function isShown(price: OraclePrice, views: readonly ChainView[]): boolean {
  return price.tier > 0 || views.some((view) => view.currencies.has(price.currencyId));
}

/** Returns a row when the regime counts the transfer as refunded, else none. */
function undelivered(
  origin: Omit<StampRow, 'stamp' | 'transfer'> & { readonly transfer: TransferFact },
  { states }: PricedBlock,
  views: readonly ChainView[],
  context: StampContext,
): readonly StampRow[] {
  const view = views.find(({ chain }) => chain === origin.chain);
  if (!view || context.regime !== 'backfill') return NO_ROWS;
  const { anchors, nativeCurrencyId } = context;
  const isTruth = (currencyId: string) => anchors.has(currencyId) || currencyId === nativeCurrencyId;
  const found = noDelivery(origin.transfer, { states, baskets: view.baskets, isTruth });
  if (!found) return NO_ROWS;
  const basis = noDeliveryBasis(found, context);
  return [
    {
      ...origin,
      transfer: { ...origin.transfer, status: 'refunded' },
      stamp: toStamp(basis, decideStamp(basis), false),
    },
  ];
}

function copyOf({ emas, clocks, marks, daily, open }: PriceFoldState): PriceFoldState {
  const days = [...daily].map(([chain, currencies]) => {
    return [chain, new Map([...currencies].map(([currencyId, prices]) => [currencyId, [...prices]]))] as const;
  });
  return { emas: new Map(emas), clocks: new Map(clocks), marks: new Map(marks), daily: new Map(days), open };
}

function isSameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

function isSameMark(a: PriceMark, b: PriceMark | undefined): boolean {
  return (
    b !== undefined &&
    a.usd === b.usd &&
    a.tier === b.tier &&
    a.totalDepth === b.totalDepth &&
    a.sourceBasket === b.sourceBasket
  );
}
