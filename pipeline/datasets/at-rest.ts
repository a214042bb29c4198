/**
 * Reads ClickHouse while no stage changes the day: ClickHouse has no transactions, so a rewind or a correction in progress shows rows that
 * no commit has. A closed day does not need this.
 */
import type { Stores } from '../../infra/stores.ts';
import { ALL_CHAINS } from '../../schemas/stages.ts';
import { isNotAtRest, pauseStages } from '../stage/pause-stages.ts';
import { type ChainDay, isUnchanged, type PricedState, pricedHeight, pricedState } from './export-state.ts';

/** The largest day takes seconds. */
const LONGEST = '60s';

/** Returns null when a stage did not pause in time or the day has changed. `hasPrices`: `work` gets the priced state of this moment. */
export async function atRest<T>(
  { postgres }: Pick<Stores, 'postgres'>,
  { day, priced, hasPrices }: { readonly day: ChainDay; readonly priced: PricedState; readonly hasPrices: boolean },
  work: (priced: PricedState) => Promise<T>,
): Promise<T | null> {
  const writers = [{ stage: 'derive', chain: day.chain } as const, { stage: 'price', chain: ALL_CHAINS } as const];
  try {
    return await postgres.transaction(async (client) => {
      await pauseStages(client, hasPrices ? writers : writers.slice(0, 1), LONGEST);
      if (!(await isUnchanged(client, day))) return null;
      if (!hasPrices) return work(priced);
      if ((await pricedHeight(client, day.chain)) < day.to) return null;
      return work(await pricedState(client));
    });
  } catch (error) {
    if (isNotAtRest(error)) return null;
    throw error;
  }
}
