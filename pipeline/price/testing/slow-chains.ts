/** A busy stretch of the recording slowed down to a month, under two names: what the laws of the stage are tested on. */
import { goldenPrices } from '../../../processors/pricing/testing/recorded-pricing.ts';
import type { PriceChain } from '../price-chain.ts';
import { compactChain, distorted, retimed } from './branches.ts';
import type { FedBlock } from './facts-feed.ts';
import { recordedDerivation } from './recorded-derivation.ts';
import { recordedPriceChain } from './recorded-price-chain.ts';

const FIRST = 290;
const LAST = 560;
const DAY = 86_400;
const XBTC = 'i8PKS1ssNcZq5pVrHTfx31VWYLpNdg7rJ9';

export interface SlowChains {
  /** One block every few hours, so that bounds of backfill stamps close on the way; coarse, so that clocks meet. */
  readonly first: readonly FedBlock[];
  /** The same at other times, which step back now and then. */
  readonly second: readonly FedBlock[];
  readonly chains: readonly [PriceChain, PriceChain];
  /** Between the two regimes. */
  readonly cutover: number;
}

export function slowChains(): SlowChains {
  const stretch = distorted(compactChain(recordedDerivation(), FIRST, LAST), XBTC, 454, 477);
  const start = blockOf(stretch[0]).time;
  const slowed = (time: number, factor: number) => start + Math.floor(((time - start) * factor) / 3600) * 3600;
  const main = recordedPriceChain({ minBasketAge: 20, stableAnchors: goldenPrices().anchors, finalityDepth: 6 });
  return {
    first: retimed(stretch, ({ time }) => slowed(time, 160)),
    second: retimed(stretch, ({ time }, height) => slowed(time, 157) - (height % 7 === 0 ? 4 * 3600 : 0)),
    chains: [main, { ...main, name: 'twin', minBasketAge: 60 }],
    cutover: start + 22 * DAY,
  };
}

export function blockOf(block: FedBlock | undefined) {
  const fact = block?.facts.find(({ type }) => type === 'block');
  if (fact?.type !== 'block') throw new TypeError('a block gave no fact of its own');
  return fact;
}
