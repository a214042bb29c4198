/** What pricing knows about one chain at a block. Immutable, because a tick may look at several blocks of a chain at once. */

import { isFractional } from '../../domain/basket-liveness.ts';
import { type BasketState, basketState, isTrading } from '../../domain/basket-state.ts';
import { CURRENCY_OPTIONS } from '../../domain/flags.ts';
import type { BlockFact, CurrencyFact, CurrencyStateFact, TransferFact } from '../../schemas/facts.ts';
import type { FactsAppended } from '../../schemas/log-records.ts';
import { mayBeStamped } from './stamp.ts';

/** `state` may be empty when no transfer of the block is unmatched. */
type StateOfBlock = Pick<
  CurrencyStateFact,
  'currencyId' | 'txid' | 'flags' | 'supply' | 'reserves' | 'liveHeight' | 'state'
>;
type DefinedCurrency = Pick<CurrencyFact, 'currencyId' | 'options'>;

/** The part of a block's facts that prices and stamps follow from. */
export interface PricedBlock {
  readonly chain: string;
  /** Position of the facts record. */
  readonly position: number;
  readonly height: number;
  readonly hash: string;
  readonly time: number;
  readonly clock: number;
  readonly states: readonly StateOfBlock[];
  readonly currencies: readonly DefinedCurrency[];
  /** Transfers that this block executed. */
  readonly transfers: readonly TransferFact[];
}

export interface ChainView {
  readonly chain: string;
  /** −1 before the first block. */
  readonly height: number;
  readonly baskets: ReadonlyMap<string, BasketState>;
  /** The trading baskets of `baskets`, ordered by basket id. */
  readonly trading: readonly BasketState[];
  /** Currencies defined so far → whether they are baskets by definition. */
  readonly currencies: ReadonlyMap<string, boolean>;
}

export function emptyView(chain: string): ChainView {
  return { chain, height: -1, baskets: new Map(), trading: [], currencies: new Map() };
}

/** @throws TypeError for a record without a block fact */
export function pricedBlock(chain: string, record: FactsAppended): PricedBlock {
  const { position, height, hash } = record;
  let block: BlockFact | null = null;
  const states: CurrencyStateFact[] = [];
  const currencies: CurrencyFact[] = [];
  const transfers: TransferFact[] = [];
  for (const fact of record.facts) {
    if (fact.type === 'block') block = fact;
    else if (fact.type === 'currency_state') states.push(fact);
    else if (fact.type === 'currency') currencies.push(fact);
    else if (fact.type === 'transfer' && mayBeStamped(fact, height)) transfers.push(fact);
  }
  if (!block) throw new TypeError(`facts record ${position} of chain ${chain} holds no block fact`);
  const { time, clock } = block;
  return { chain, position, height, hash, time, clock, states, currencies, transfers };
}

/** Returns the view after a block; the last of several states of a basket counts. */
export function advanceView(view: ChainView, block: PricedBlock): ChainView {
  const currencies = withDefinitions(view.currencies, block.currencies);
  const states = block.states.filter((fact) => isFractional(fact.flags) || view.baskets.has(fact.currencyId));
  if (states.length === 0) return { ...view, currencies, height: block.height };
  const baskets = new Map(view.baskets);
  for (const fact of states) baskets.set(fact.currencyId, basketState(block.chain, block.height, fact));
  return viewOf(block.chain, block.height, baskets, currencies);
}

export function viewOf(
  chain: string,
  height: number,
  baskets: ReadonlyMap<string, BasketState>,
  currencies: ReadonlyMap<string, boolean>,
): ChainView {
  const trading = [...baskets.values()].filter(isTrading);
  trading.sort((a, b) => (a.basketId < b.basketId ? -1 : 1));
  return { chain, height, baskets, trading, currencies };
}

export function isBasketDefinition(options: number): boolean {
  return (options & CURRENCY_OPTIONS.FRACTIONAL) !== 0;
}

function withDefinitions(known: ReadonlyMap<string, boolean>, facts: readonly DefinedCurrency[]) {
  if (facts.length === 0) return known;
  return new Map([...known, ...facts.map((fact) => [fact.currencyId, isBasketDefinition(fact.options)] as const)]);
}

/** Returns the baskets that are old enough to price anything, ordered by basket id. */
export function liveBaskets(view: ChainView, minAge: number): readonly BasketState[] {
  return view.trading.filter(({ liveHeight }) => liveHeight !== null && view.height - liveHeight >= minAge);
}
