/** Makes price generations in a world of the price stage's tests. */
import { pino } from 'pino';
import type { ClickHouse } from '../../../../infra/clickhouse/clickhouse.ts';
import { readGenerations, servedGeneration } from '../../../../pipeline/price/generations.ts';
import type { PriceChain } from '../../../../pipeline/price/price-chain.ts';
import { foldedRulesOf, pricingRules } from '../../../../pipeline/price/run-price.ts';
import { beginGeneration } from '../../../../pipeline/reprocess/candidate-generation.ts';
import {
  createGenerationMaker,
  type GenerationMaker,
  type MakeLimits,
} from '../../../../pipeline/reprocess/make-generation.ts';
import { acquireStageLock, type StageLock } from '../../../../pipeline/stage/stage-lock.ts';
import type { RegimeRange } from '../../../../processors/pricing/regime-plan.ts';
import { ALL_CHAINS } from '../../../../schemas/stages.ts';
import type { PriceWorld, WorldOptions } from '../price/price-world.ts';

export const EVERYTHING = { from: null, to: null, chains: null } as const;

export interface MakeInWorld extends Pick<WorldOptions, 'cutover' | 'minBasketDepthUsd' | 'priceLimits'> {
  readonly chains: readonly PriceChain[];
  readonly limits?: Partial<MakeLimits>;
  /** Wraps the stores that are written to. */
  readonly around?: (stores: { clickhouse: ClickHouse; lock: StageLock }) => {
    clickhouse: ClickHouse;
    lock: StageLock;
  };
}

/** Begins or continues a generation, as the command does. */
export const begin = (
  { stores }: PriceWorld,
  { chains, cutover, minBasketDepthUsd, priceLimits = {} }: MakeInWorld,
  range: RegimeRange = { regime: 'live', ...EVERYTHING },
) => beginGeneration(stores, range, range.regime, foldedRulesOf(chains, { cutover, minBasketDepthUsd, priceLimits }));

/** Calls `work` with a maker of the generation that is not served, as a newly started command has it. */
export async function withMaker<T>(
  { stores }: PriceWorld,
  { chains, limits, around = (as) => as, ...config }: MakeInWorld,
  work: (maker: GenerationMaker) => Promise<T>,
): Promise<T> {
  const { signal } = new AbortController();
  const { generation: base } = await servedGeneration(stores.postgres.pool);
  const generation = (await readGenerations(stores.postgres.pool)).find(({ served }) => !served);
  if (!generation) throw new Error('no generation was begun');
  const held = await acquireStageLock(stores.postgres, 'reprocess', ALL_CHAINS, signal);
  try {
    const { clickhouse, lock } = around({ clickhouse: stores.clickhouse, lock: held });
    const maker = createGenerationMaker({
      generation,
      base,
      chains,
      rules: pricingRules(chains, { priceLimits: {}, ...config }),
      stores: { postgres: stores.postgres, clickhouse },
      lock,
      logger: pino({ level: 'silent' }),
      signal,
      limits: { maxTicks: 5000, maxQueued: 5000, maxCopied: 5000, near: 200, ...limits },
    });
    return await work(maker);
  } finally {
    await held.release();
  }
}

export async function toTheEnd(maker: GenerationMaker): Promise<void> {
  for (let steps = 0; (await maker.step()) !== null; steps++) {
    if (steps > 5000) throw new Error('the generation does not become ready');
  }
}

/** Sets the regime ranges of the world's served generation from the start. */
export async function serveRanges({ stores }: PriceWorld, ranges: readonly RegimeRange[]): Promise<void> {
  await stores.postgres.pool.query('UPDATE generations SET regimes = $1 WHERE served', [JSON.stringify(ranges)]);
}
