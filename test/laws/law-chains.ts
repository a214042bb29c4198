/** Chains of their own for each history, in the stores and the log of one file of laws: digests do not count their names. */
import type { Stores } from '../../infra/stores.ts';
import type { UnplacedRecord } from './chain-records.ts';
import { deriveToEnd, type TestLog } from './replay.ts';

export interface LawChains {
  /** A new chain whose log holds the records. */
  chainWith(records: readonly UnplacedRecord[]): Promise<string>;
  /** The same, derived to its end without anything happening on the way. */
  straight(records: readonly UnplacedRecord[]): Promise<string>;
}

export function createLawChains(world: () => { readonly stores: Stores; readonly log: TestLog }): LawChains {
  let names = 0;

  async function chainWith(records: readonly UnplacedRecord[]): Promise<string> {
    const chain = `chain${names++}`;
    await world().log.append(chain, records);
    return chain;
  }

  return {
    chainWith,
    async straight(records) {
      const chain = await chainWith(records);
      await deriveToEnd(chain, world());
      return chain;
    },
  };
}
