/** Exports that add only a range of UTC days: docs/decisions/0089-data-set.md */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkFolder, readManifest } from '../../test/support/datasets/check-folder.ts';
import { openPricedDataset, type PricedDataset } from '../../test/support/datasets/priced-dataset.ts';
import { slowChains } from '../../test/support/pipeline/price/slow-chains.ts';
import { readExportState } from './export-state.ts';

const { first: blocks } = slowChains();
let dataset: PricedDataset;
beforeAll(async () => {
  dataset = await openPricedDataset(1);
});
afterAll(() => dataset?.close());

const days = async () => (await readManifest(dataset.folder, 'prices')).map(({ day }) => day);
const allDays = async () => (await readExportState(dataset.world.stores, dataset.chains)).days.map(({ day }) => day);

it('adds only files of the range, and brings files up to date that an earlier range has added', async () => {
  const { world, pass, folder } = dataset;
  const [feed] = world.feeds;
  const half = Math.floor(blocks.length / 2);
  await feed?.append(blocks.slice(0, half));
  await world.run();
  const all = await allDays();
  const [from = '', to = ''] = [all.at(-3), all.at(-1)];
  expect(all.length).toBeGreaterThan(4);

  expect((await pass({ addedDays: { from, to } })).missed).toBe(0);
  expect(await days()).toEqual(all.slice(-3, -1));
  await pass({ addedDays: { from: to, to: null } });
  expect(await days()).toEqual(all.slice(-3));

  const open = (await readManifest(folder, 'prices')).at(-1);
  await feed?.append(blocks.slice(half));
  await world.run();
  await pass({ addedDays: { from: null, to: all[1] ?? null } });
  const now = await readManifest(folder, 'prices');
  expect(now.map(({ day }) => day)).toEqual([...all.slice(0, 1), ...all.slice(-3)]);
  expect(now.at(-1)?.path).not.toBe(open?.path);
  await checkFolder(folder);

  await pass();
  expect(await days()).toEqual(await allDays());
});
