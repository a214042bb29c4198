/** The recording's chain as the price stage is configured with it. */
import { RECORDED_CHAIN } from '../../../processors/testing/recorded-chain.ts';
import type { PriceChain } from '../price-chain.ts';

export function recordedPriceChain(
  of: Pick<PriceChain, 'minBasketAge' | 'stableAnchors'> & Partial<PriceChain>,
): PriceChain {
  const { name, nativeCurrencyId } = RECORDED_CHAIN;
  return { name, nativeCurrencyId, finalityDepth: 100, ...of };
}
