/** Pairs of baskets as price aggregators know markets: symbols, texts of 8 decimals, one market a pair. */
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

/** USD, or any decimal text, rounded half up → text with 8 decimals. */
export function eightDecimals(value: Usd | string): string {
  const scaled = typeof value === 'string' ? parseUsd(value) : value;
  return satoshisToCoins((scaled + STEP / 2n) / STEP);
}

/** All pools of one pair. */
export interface PairMarket {
  /** The pool of most liquidity: its price is the market's. */
  readonly deepest: Pair;
  readonly volumeBase: bigint;
  readonly volumeQuote: bigint;
}

/** In the order of the pairs. */
export function marketsOf(pairs: readonly Pair[]): PairMarket[] {
  const markets = new Map<string, PairMarket>();
  for (const pair of pairs) {
    const key = `${pair.base} ${pair.quote}`;
    const known = markets.get(key);
    const isDeeper = !known || (pair.liquidity ?? 0n) > (known.deepest.liquidity ?? 0n);
    markets.set(key, {
      deepest: isDeeper ? pair : known.deepest,
      volumeBase: (known?.volumeBase ?? 0n) + pair.volumeBase,
      volumeQuote: (known?.volumeQuote ?? 0n) + pair.volumeQuote,
    });
  }
  return [...markets.values()];
}
