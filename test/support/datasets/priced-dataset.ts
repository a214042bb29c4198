/**
 * A data set of prices and conversions over stores that the test fills: a month of days, of which each pass sees those the test chooses.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ExportOptions, type ExportOutcome, exportDatasets } from '../../../pipeline/datasets/export-datasets.ts';
import { type DatasetFolder, openLocalFolder } from '../../../pipeline/datasets/folder.ts';
import { GRACE_MS } from '../../../pipeline/datasets/notes.ts';
import { ALONE } from '../../../pipeline/datasets/pace.ts';
import type { PriceChain } from '../../../pipeline/price/price-chain.ts';
import { PRICED_TABLES } from '../../../schemas/datasets/priced-tables.ts';
import type { FedBlock } from '../pipeline/price/facts-feed.ts';
import { createPriceWorld, type PriceWorld } from '../pipeline/price/price-world.ts';
import { blockOf, slowChains } from '../pipeline/price/slow-chains.ts';

export interface PricedDataset {
  readonly world: PriceWorld;
  readonly chains: readonly PriceChain[];
  readonly folder: string;
  /** An export pass, one file after another. `first` runs once the pass has read the state of the stores and before it writes a file. */
  pass(options?: Partial<ExportOptions> & { readonly first?: () => Promise<unknown> }): Promise<ExportOutcome>;
  /** Makes the next pass write every file again. */
  forgetBases(): Promise<void>;
  close(): Promise<void>;
}

/** `withStates`: whether ClickHouse has blocks too. */
export async function openPricedDataset(chainCount: 1 | 2, withStates = false): Promise<PricedDataset> {
  const { chains: both, cutover } = slowChains();
  const chains = both.slice(0, chainCount);
  const world = await createPriceWorld({ chains, cutover, minBasketDepthUsd: 1000, withStates });
  const folder = await mkdtemp(join(tmpdir(), 'verustream-priced-'));
  return {
    world,
    chains,
    folder,
    async pass({ first, ...options } = {}) {
      const local = await openLocalFolder(folder);
      return exportDatasets({
        stores: world.stores,
        chains,
        tables: PRICED_TABLES,
        folder: first ? withFirst(local, first) : local,
        pace: { ...ALONE, atOnce: 1, meanwhile: 0 },
        graceMs: GRACE_MS,
        signal: new AbortController().signal,
        ...options,
      });
    },
    async forgetBases() {
      for (const { name } of PRICED_TABLES) {
        const notes = join(folder, 'notes', `${name}.json`);
        await writeFile(notes, (await readFile(notes, 'utf8')).replaceAll('"basis":"', '"basis":"other '));
      }
    },
    async close() {
      await world.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function withFirst(folder: DatasetFolder, first: () => Promise<unknown>): DatasetFolder {
  let isBegun = false;
  return {
    ...folder,
    async read(path) {
      if (!isBegun) {
        isBegun = true;
        await first();
      }
      return folder.read(path);
    },
  };
}

export const dayOf = (block: FedBlock | undefined): number => Math.floor(blockOf(block).clock / 86_400);

/** The same blocks on another branch, with times shifted by `seconds`. */
export function onAnotherBranch(blocks: readonly FedBlock[], seconds = 0): FedBlock[] {
  return blocks.map((block) => {
    const hash = `${block.hash.startsWith('f') ? 'e' : 'f'}${block.hash.slice(1)}`;
    const facts = block.facts.map((fact) => {
      if (fact.type === 'block') return { ...fact, hash, time: fact.time + seconds, clock: fact.clock + seconds };
      if (fact.type === 'transfer' && fact.importHeight === block.height && fact.importTime !== null)
        return { ...fact, importTime: fact.importTime + seconds };
      return fact;
    });
    return { ...block, hash, facts };
  });
}
