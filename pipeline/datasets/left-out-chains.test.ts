/** Exports that leave out chains, and chains that are no longer configured, when another generation is served. */

import { access, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run as exportData } from '../../commands/export.ts';
import type { Config } from '../../schemas/config.ts';
import { PRICED_TABLES } from '../../schemas/datasets/priced-tables.ts';
import { chainOf, configOf } from '../../test/api/running-service.ts';
import { collectedOutput } from '../../test/support/commands/collected-output.ts';
import { checkFolder, readManifest } from '../../test/support/datasets/check-folder.ts';
import { openPricedDataset, type PricedDataset } from '../../test/support/datasets/priced-dataset.ts';
import { slowChains } from '../../test/support/pipeline/price/slow-chains.ts';
import { begin, toTheEnd, withMaker } from '../../test/support/pipeline/reprocess/make.ts';
import { swapGenerations } from '../reprocess/candidate-generation.ts';

const { first, second, chains, cutover } = slowChains();
const [main, twin] = chains;
const BLOCKS = 110;
let dataset: PricedDataset;
beforeAll(async () => {
  dataset = await openPricedDataset(2);
  const { world, pass } = dataset;
  await world.feeds[0]?.append(first.slice(0, BLOCKS));
  await world.feeds[1]?.append(second.slice(0, BLOCKS));
  await world.run();
  await pass();
  await begin(world, { chains, cutover, minBasketDepthUsd: 1000 });
  await withMaker(world, { chains, cutover, minBasketDepthUsd: 1000 }, toTheEnd);
  await swapGenerations(world.stores.postgres, 'newer');
});
afterAll(() => dataset?.close());

const kinds = async () =>
  new Set((await readManifest(dataset.folder, 'prices')).map(({ chain, generation }) => `${chain} ${generation}`));

it('a chain that is left out keeps its files, and the manifest is unchanged while they are of another generation', async () => {
  const before = await readManifest(dataset.folder, 'prices');
  expect(await kinds()).toEqual(new Set([`${main.name} 1`, `${twin.name} 1`]));
  for (let pass = 0; pass < 2; pass++) {
    const { withheld, missed } = await dataset.pass({ chains: [main], keptChains: [twin.name] });
    expect(missed).toBe(0);
    expect(withheld).toEqual(PRICED_TABLES.map(({ name }) => ({ table: name, chains: [twin.name] })));
    expect(await readManifest(dataset.folder, 'prices')).toEqual(before);
    await checkFolder(dataset.folder);
  }
});

const configured = () =>
  configOf(
    chains.map(({ name, finalityDepth }) => {
      const rpc = 'http://127.0.0.1:1';
      return { ...chainOf({ name, rpc, rootCurrency: name, stableAnchors: [] }), finalityDepth };
    }),
  );

const exportPrices = (config: Config, destination: string, names?: string) =>
  exportData(
    { config, stores: dataset.world.stores, signal: new AbortController().signal },
    { destination, tables: 'prices', chains: names, endpoint: undefined },
    collectedOutput().output,
  );

it('the command reports this, and advises to export all chains', async () => {
  const asked = (names?: string) => exportPrices(configured(), dataset.folder, names);
  await expect(asked(main.name)).rejects.toMatchObject({
    code: 'export_withheld',
    message: expect.stringMatching(
      new RegExp(`The manifests of prices stay .* files of ${twin.name}, .*Export all chains`),
    ),
  });
  expect(await asked()).toMatchObject({ exitCode: 0 });
  expect(await kinds()).toEqual(new Set([`${main.name} 2`, `${twin.name} 2`]));
});

it('a chain that is no longer configured is removed from the manifest', async () => {
  await swapGenerations(dataset.world.stores.postgres, 'older');
  const { withheld } = await dataset.pass({ chains: [main] });
  expect(await kinds()).toEqual(new Set([`${main.name} 1`]));
  expect(withheld).toEqual([]);
});

it('the served folder keeps replaced files for its readers, also when it is written under another name', async () => {
  const config = configured();
  const serving = { ...config, datasets: { ...config.datasets, folder: dataset.folder } };
  const link = `${dataset.folder}-link`;
  await symlink(dataset.folder, link);
  try {
    const replaced = await readManifest(dataset.folder, 'prices');
    await swapGenerations(dataset.world.stores.postgres, 'newer');
    await exportPrices(serving, link);
    const named = (await readManifest(dataset.folder, 'prices')).map(({ path }) => path);
    expect(replaced.length).toBeGreaterThan(3);
    for (const { path } of replaced) {
      expect(named).not.toContain(path);
      await access(join(dataset.folder, path));
    }
  } finally {
    await rm(link);
  }
});
