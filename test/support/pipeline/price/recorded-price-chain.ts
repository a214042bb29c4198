/** The recording's chain with the price stage's configuration. */

import type { PriceChain } from '../../../../pipeline/price/price-chain.ts';
import { RECORDED_CHAIN } from '../../processors/recorded-chain.ts';

export function recordedPriceChain(
  of: Pick<PriceChain, 'minBasketAge' | 'stableAnchors'> & Partial<PriceChain>,
): PriceChain {
  const { name, nativeCurrencyId } = RECORDED_CHAIN;
  return { name, nativeCurrencyId, finalityDepth: 100, ...of };
}
