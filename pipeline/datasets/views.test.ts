/** A statement over the views sees the rows of its beginning, however long Postgres takes to copy what it needs. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPricedDataset, type PricedDataset } from '../../test/support/datasets/priced-dataset.ts';
import { slowChains } from '../../test/support/pipeline/price/slow-chains.ts';
import { clearRuns, pruneRuns } from '../price/ahead-runs.ts';
import { withViews } from './views.ts';

const { first, second } = slowChains();
let dataset: PricedDataset;
beforeAll(async () => {
  dataset = await openPricedDataset(2);
  const { world } = dataset;
  await world.feeds[0]?.append(first.slice(0, 80));
  await world.feeds[1]?.append(second.slice(0, 20));
  await world.run();
});
afterAll(() => dataset?.close());

it('provisional rows that are replaced before ClickHouse is asked', async () => {
  const { postgres, clickhouse } = dataset.world.stores;
  const request = { names: new Set(['v_prices']), mentions: () => false, seconds: 60 };
  const count = (views: string) =>
    clickhouse.query(`${views}SELECT count() AS n, countIf(provisional) AS provisional FROM v_prices`);
  const before = await withViews(dataset.world.stores, request, count);
  expect(Number(before[0]?.provisional)).toBeGreaterThan(0);
  const prune = () => postgres.transaction((client) => pruneRuns(client, clickhouse));
  const replaced = await withViews(dataset.world.stores, request, async (views) => {
    await postgres.transaction(clearRuns);
    await prune();
    await postgres.pool.query("UPDATE ahead_runs SET unseen_since = unseen_since - interval '3 minutes'");
    await prune();
    return count(views);
  });
  expect(replaced).toEqual(before);
  await prune();
  expect(await clickhouse.query('SELECT count() AS n FROM prices_ahead')).toEqual([{ n: '0' }]);
});
