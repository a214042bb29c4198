/** Chains of any length, one block per minute: a busy section of the recording with empty blocks between its own. */
import { createHash } from 'node:crypto';
import type { PriceChain } from '../../../../pipeline/price/price-chain.ts';
import type { Fact } from '../../../../schemas/facts.ts';
import { goldenPrices } from '../../processors/pricing/recorded-pricing.ts';
import { compactChain } from './branches.ts';
import type { FedBlock } from './facts-feed.ts';
import { recordedDerivation } from './recorded-derivation.ts';
import { recordedPriceChain } from './recorded-price-chain.ts';
import { blockOf } from './slow-chains.ts';

export interface LongChain {
  readonly chain: PriceChain;
  readonly length: number;
  /** Built at each call, so that blocks are not kept in memory. */
  blocks(from: number, to: number): FedBlock[];
}

const FIRST = 290;
const LAST = 560;
const SECONDS = 60;

/** Three chains whose clocks differ and sometimes coincide; each trades over its whole length, which is `length` or slightly less. */
export function longChains(length: number): readonly [LongChain, LongChain, LongChain] {
  const stretch = compactChain(recordedDerivation(), FIRST, LAST);
  const apart = Math.floor(length / stretch.length);
  const main = recordedPriceChain({ minBasketAge: 20, stableAnchors: goldenPrices().anchors, finalityDepth: 6 });
  const start = blockOf(stretch[0]).time;
  const chain = (name: string, offset: number, minBasketAge: number): LongChain => ({
    chain: { ...main, name, minBasketAge },
    length: stretch.length * apart,
    blocks: (from, to) => {
      const heights = Array.from(
        { length: Math.max(0, Math.min(to, stretch.length * apart) - from) },
        (_, index) => from + index,
      );
      return heights.map((height) =>
        blockAt(stretch, apart, height, name, start + height * SECONDS + (height % 7 === 0 ? 0 : offset)),
      );
    },
  });
  return [chain('vrsc', 0, 20), chain('twin', 20, 60), chain('triplet', 40, 40)];
}

function blockAt(stretch: readonly FedBlock[], apart: number, height: number, name: string, time: number): FedBlock {
  const busy = stretch[height / apart];
  const hash = createHash('sha256').update(`${name} ${height}`).digest('hex');
  const block = { ...blockOf(busy ?? stretch[0]), hash, time, clock: time };
  const others = (busy?.facts ?? []).filter(({ type }) => type !== 'block');
  return { height, hash, facts: [block, ...others.map((fact) => moved(fact, apart, height, time))] };
}

/** Moves a fact to its new height; heights before the section become 0. */
function moved(fact: Fact, apart: number, height: number, time: number): Fact {
  const at = (old: number) => Math.max(0, old - FIRST) * apart;
  if (fact.type === 'currency_state') {
    return { ...fact, liveHeight: fact.liveHeight === null ? null : at(fact.liveHeight) };
  }
  if (fact.type !== 'transfer') return fact;
  const isImported = fact.importHeight !== null && at(fact.importHeight) === height;
  return {
    ...fact,
    requestHeight: at(fact.requestHeight),
    ...(isImported && { importHeight: height, importTime: time }),
  };
}
