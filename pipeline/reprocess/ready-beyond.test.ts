/** A generation becomes ready while a chain stands still: its conversions beyond the line get stamps without another block. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { watchPositions } from '../../infra/postgres/position-moves.ts';
import { FIRST_AHEAD_TICK } from '../../schemas/ahead-runs.ts';
import { createPriceWorld, type OpenStage, type PriceWorld } from '../../test/support/pipeline/price/price-world.ts';
import { slowChains } from '../../test/support/pipeline/price/slow-chains.ts';
import { begin, EVERYTHING, toTheEnd, withMaker } from '../../test/support/pipeline/reprocess/make.ts';
import { dropGeneration } from './candidate-generation.ts';

const { first, second, chains, cutover } = slowChains();
const config = { chains, cutover, minBasketDepthUsd: 1000 };
/** The same regimes as those of the served generation. */
const SAME = { regime: 'cutover', ...EVERYTHING } as const;

let world: PriceWorld;
let open: OpenStage;
beforeAll(async () => {
  world = await createPriceWorld(config);
  await world.feeds[0]?.append(first.slice(0, 240));
  await world.feeds[1]?.append(second.slice(0, 120));
  open = await world.open();
  await open.settle();
});
afterAll(async () => {
  await open?.close();
  await world?.close();
});

/** Rows beyond the line by generation, in both stores. */
async function beyond() {
  const { rows } = await world.stores.postgres.pool.query<{ generation: number; rows: number }>(
    'SELECT generation, count(*)::int4 AS rows FROM stamps WHERE tick >= $1 GROUP BY generation ORDER BY generation',
    [FIRST_AHEAD_TICK],
  );
  const { rows: runs } = await world.stores.postgres.pool.query<{ run: string }>(
    'SELECT run::text FROM ahead_runs WHERE counts',
  );
  const conversions = await world.stores.clickhouse.query(
    `SELECT generation, toUInt32(count()) AS rows FROM conversions_ahead WHERE has({runs: Array(UInt64)}, run)
     GROUP BY generation ORDER BY generation`,
    { runs: runs.map(({ run }) => Number(run)) },
  );
  return { stamps: rows, conversions };
}

it('is ready once it has as many rows beyond the line as the served generation, without another block', async () => {
  const { stamps } = await beyond();
  const rows = stamps[0]?.rows ?? 0;
  expect(rows).toBeGreaterThan(10);
  await begin(world, config, SAME);
  let isMade = false;
  const made = withMaker(world, config, toTheEnd).finally(() => {
    isMade = true;
  });
  while (!isMade) {
    await open.settle();
    await sleep(20);
  }
  await made;
  const both = [1, 2].map((generation) => ({ generation, rows }));
  expect(await beyond()).toEqual({ stamps: both, conversions: both });
});

it('wakes the fold when it is ready', async () => {
  await dropGeneration(world.stores, 2);
  await open.settle();
  await begin(world, config, SAME);
  const ended = new AbortController();
  const moves = watchPositions(world.stores.postgres, pino({ level: 'silent' }), 'derive');
  try {
    await moves.next(60_000, ended.signal); // resolves once it listens
    let isWoken = false;
    let taken = Promise.resolve();
    void moves.next(600_000, ended.signal).then(() => {
      isWoken = true;
      taken = open.settle();
    });
    await withMaker(world, config, async (maker) => {
      await maker.step();
      expect(isWoken).toBe(false);
      await toTheEnd(maker);
    });
    await expect.poll(() => isWoken, { timeout: 30_000 }).toBe(true);
    await taken;
  } finally {
    ended.abort();
    await moves.stop();
  }
});
