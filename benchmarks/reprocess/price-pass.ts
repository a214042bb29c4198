/** A whole run over four chains with active baskets: a busy range of the recording, repeated. */

import type { Phase } from '../../pipeline/reprocess/make-generation.ts';
import type { Fact } from '../../schemas/facts.ts';
import type { FedBlock } from '../../test/support/pipeline/price/facts-feed.ts';
import { createPriceWorld } from '../../test/support/pipeline/price/price-world.ts';
import { slowChains } from '../../test/support/pipeline/price/slow-chains.ts';
import { begin, withMaker } from '../../test/support/pipeline/reprocess/make.ts';
import { CHAINS } from './made-conversions.ts';

export interface PricePass {
  readonly heights: number;
  /** Rate of the price pass alone, without the copy of the stamps. */
  readonly heightsPerSecond: number;
  readonly stamps: number;
  readonly copiedPerSecond: number;
}

export async function measurePass(times: number): Promise<PricePass> {
  const { first, chains: made, cutover } = slowChains();
  const chains = CHAINS.map((name) => ({ ...made[0], name, finalityDepth: 100 }));
  const config = { chains, cutover, minBasketDepthUsd: 1000 };
  const world = await createPriceWorld(config);
  try {
    for (const feed of world.feeds) {
      for (let time = 0; time < times; time++) await feed.append(repeated(first, time));
    }
    await world.run();
    const seconds: Record<Phase, number> = { prices: 0, stamps: 0, copy: 0, follow: 0 };
    await begin(world, config);
    let priced = -1;
    await withMaker(world, config, async (maker) => {
      for (;;) {
        const began = performance.now();
        const step = await maker.step();
        if (!step) break;
        seconds[step.phase] += (performance.now() - began) / 1000;
        if (step.phase === 'prices') priced = step.progress.priced;
      }
    });
    const { rows } = await world.stores.postgres.pool.query<{ count: bigint }>(
      'SELECT count(*) FROM stamps WHERE generation = 2',
    );
    const stamps = Number(rows[0]?.count ?? 0);
    const heights = priced + 1;
    return { heights, heightsPerSecond: heights / seconds.prices, stamps, copiedPerSecond: stamps / seconds.copy };
  } finally {
    await world.close();
  }
}

/** Repeats the blocks as a continuation: later heights and times, different keys. */
function repeated(blocks: readonly FedBlock[], time: number): FedBlock[] {
  const clocks = blocks.flatMap(({ facts }) => facts.flatMap((fact) => (fact.type === 'block' ? [fact.clock] : [])));
  const span = Math.max(...clocks) - Math.min(...clocks) + 3600;
  const key = (hash: string) => time.toString(16).padStart(6, '0') + hash.slice(6);
  const later = (height: number | null) => (height === null ? null : height + time * blocks.length);
  const again = (fact: Fact): Fact[] => {
    if (fact.type === 'block')
      return [{ ...fact, hash: key(fact.hash), time: fact.time + time * span, clock: fact.clock + time * span }];
    if (fact.type === 'currency') return time === 0 ? [fact] : [];
    if (fact.type !== 'transfer') return [fact];
    return [{ ...fact, txid: key(fact.txid), importHeight: later(fact.importHeight) }];
  };
  return blocks.map(({ height, hash, facts }) => ({
    height: height + time * blocks.length,
    hash: key(hash),
    facts: facts.flatMap(again),
  }));
}
