/** A busy section of the recording, slowed down to a month, under two names: the input of the price stage's law tests. */
import type { PriceChain } from '../../../../pipeline/price/price-chain.ts';
import { blockFactOf } from '../../../../pipeline/sinks/derived-block.ts';
import type { BlockFact } from '../../../../schemas/facts.ts';
import { frozenOnce } from '../../processors/frozen.ts';
import { goldenPrices } from '../../processors/pricing/recorded-pricing.ts';
import { RECORDED_CHAIN } from '../../processors/recorded-chain.ts';
import { compactChain, distorted, retimed, type Unpaid, withoutPayouts } from './branches.ts';
import type { FedBlock } from './facts-feed.ts';
import { recordedDerivation } from './recorded-derivation.ts';
import { recordedPriceChain } from './recorded-price-chain.ts';

const FIRST = 290;
const LAST = 560;
const DAY = 86_400;
const XBTC = 'i8PKS1ssNcZq5pVrHTfx31VWYLpNdg7rJ9';

/** Imports that leave conversions unpaid: far from the market by their prices or by the basket's state, and near it. */
const UNPAID: readonly Unpaid[] = [
  { height: 299, pricesTo: 400n },
  { height: 449, pricesTo: 100n },
  { height: 477, pricesTo: 100n },
  { height: 485, pricesTo: 25n },
  { height: 486, pricesTo: 100n },
];

export interface SlowChains {
  /**
   * One block every few hours, so that bounds of backfill stamps close within the chain; times are rounded to hours, so that clocks
   * coincide.
   */
  readonly first: readonly FedBlock[];
  /** The same blocks at other times, which sometimes step back. */
  readonly second: readonly FedBlock[];
  /** The same blocks with times that differ more from the first chain. */
  readonly third: readonly FedBlock[];
  readonly chains: readonly [PriceChain, PriceChain];
  readonly thirdChain: PriceChain;
  /** Time at which the regime changes. */
  readonly cutover: number;
}

export const slowChains = frozenOnce((): SlowChains => {
  const { anchors } = goldenPrices();
  const truths = new Set([...anchors, RECORDED_CHAIN.nativeCurrencyId]);
  const recorded = withoutPayouts(compactChain(recordedDerivation(), FIRST, LAST), UNPAID, truths);
  const stretch = distorted(recorded, XBTC, 454, 477);
  const start = blockOf(stretch[0]).time;
  const slowed = (time: number, factor: number) => start + Math.floor(((time - start) * factor) / 3600) * 3600;
  const main = recordedPriceChain({ minBasketAge: 20, stableAnchors: anchors, finalityDepth: 6 });
  return {
    first: retimed(stretch, ({ time }) => slowed(time, 160)),
    second: retimed(stretch, ({ time }, height) => slowed(time, 157) - (height % 7 === 0 ? 4 * 3600 : 0)),
    third: retimed(stretch, ({ time }, height) => slowed(time, 163) + (height % 5 === 0 ? 2 * 3600 : 0)),
    chains: [main, { ...main, name: 'twin', minBasketAge: 60 }],
    thirdChain: { ...main, name: 'triplet', minBasketAge: 40 },
    cutover: start + 22 * DAY,
  };
});

export const blockOf = (block: FedBlock | undefined): BlockFact => blockFactOf(block?.facts ?? []);
