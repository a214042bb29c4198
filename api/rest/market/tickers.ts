/** Converts pairs of baskets to markets of price aggregators: symbols, numbers as texts, one market per pair. */
import { STAMP_DECIMALS } from '../../../domain/decimal.ts';
import { BRIDGED_SUFFIX } from '../../../domain/names.ts';
import { parseUsd, type Usd } from '../../http/usd.ts';
import type { Pair } from './pairs.ts';

const BRIDGED_NATIVE = BRIDGED_SUFFIX.slice(1);

/** `vUSDC.vETH` → USDC, `DAI.vETH` → DAI, `vETH` → ETH; a currency of these chains keeps its name. */
export function symbolOf(name: string): string {
  if (name === BRIDGED_NATIVE) return name.slice(1);
  if (!name.endsWith(BRIDGED_SUFFIX)) return name;
  return name.slice(0, -BRIDGED_SUFFIX.length).replace(/^v(?=[A-Z])/, '');
}

const PLACES = 8;
/** Zeros after the point from which eight decimals would leave fewer than five digits of a price, or 0. */
const MANY_ZEROS = 4;
const DIGITS = 6;

/** Returns a price as text with 8 decimals, or 6 significant digits if it is below 0.0001; rounded half up. */
export function priceText(price: string): string {
  const zeros = /^0\.(0*)/.exec(price)?.[1]?.length ?? 0;
  return withPlaces(parseUsd(price), zeros < MANY_ZEROS ? PLACES : Math.min(zeros + DIGITS, STAMP_DECIMALS));
}

/** Returns USD as text with 8 decimals, rounded half up. */
export function usdText(value: Usd): string {
  return withPlaces(value, PLACES);
}

function withPlaces(value: Usd, places: number): string {
  const step = 10n ** BigInt(STAMP_DECIMALS - places);
  const digits = ((value + step / 2n) / step).toString().padStart(places + 1, '0');
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`;
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
