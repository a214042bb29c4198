/** Converts pairs of baskets to markets of price aggregators: symbols, texts with 8 decimals, one market per pair. */
import { BRIDGED_SUFFIX } from '../../../domain/names.ts';
import { satoshisToCoins } from '../../../domain/satoshi.ts';
import { parseUsd, type Usd } from '../../http/usd.ts';
import type { Pair } from './pairs.ts';

const BRIDGED_NATIVE = BRIDGED_SUFFIX.slice(1);

/** `vUSDC.vETH` → USDC, `DAI.vETH` → DAI, `vETH` → ETH; a currency of these chains keeps its name. */
export function symbolOf(name: string): string {
  if (name === BRIDGED_NATIVE) return name.slice(1);
  if (!name.endsWith(BRIDGED_SUFFIX)) return name;
  return name.slice(0, -BRIDGED_SUFFIX.length).replace(/^v(?=[A-Z])/, '');
}

const STEP = 10n ** 30n;

/** Returns USD, or any decimal text, as text with 8 decimals, rounded half up. */
export function eightDecimals(value: Usd | string): string {
  const scaled = typeof value === 'string' ? parseUsd(value) : value;
  return satoshisToCoins((scaled + STEP / 2n) / STEP);
}

/** All pools of one pair. */
export interface PairMarket {
  /** The pool with the most liquidity: its price is the market's. */
  readonly deepest: Pair;
  readonly volumeBase: bigint;
  readonly volumeQuote: bigint;
}

const depthOf = ({ liquidity }: Pair) => liquidity ?? 0n;

/** Markets in the order of the pairs. Baskets may orient a pair either way; a market takes base and quote of its deepest pool. */
export function marketsOf(pairs: readonly Pair[]): PairMarket[] {
  const pools = Map.groupBy(pairs, ({ base, quote }) => [base, quote].sort().join(' '));
  return [...pools.values()].map((of) => {
    const deepest = of.reduce((deep, pool) => (depthOf(pool) > depthOf(deep) ? pool : deep));
    let [volumeBase, volumeQuote] = [0n, 0n];
    for (const pool of of) {
      const isAlike = pool.base === deepest.base;
      volumeBase += isAlike ? pool.volumeBase : pool.volumeQuote;
      volumeQuote += isAlike ? pool.volumeQuote : pool.volumeBase;
    }
    return { deepest, volumeBase, volumeQuote };
  });
}
