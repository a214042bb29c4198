/** Chains of their own for each history, in the stores and the log of one file of laws: digests do not count their names. */
import { afterAll, beforeAll } from 'vitest';
import type { Stores } from '../../infra/stores.ts';
import { createTestStores } from '../support/infra/test-stores.ts';
import type { UnplacedRecord } from './chain-records.ts';
import { createTestLog, deriveToEnd, type TestLog } from './replay.ts';

const START_MS = 300_000;

export interface LawChains {
  /** While a test runs. */
  readonly world: { readonly stores: Stores; readonly log: TestLog };
  /** A new chain whose log holds the records. */
  chainWith(records: readonly UnplacedRecord[]): Promise<string>;
  /** The same, derived to its end without anything happening on the way. */
  straight(records: readonly UnplacedRecord[]): Promise<string>;
}

/** For a whole file: its stores and log are there from its first test to its last. */
export function useLawChains(): LawChains {
  let stores: Stores;
  let log: TestLog;
  let names = 0;
  const world = {
    get stores() {
      return stores;
    },
    get log() {
      return log;
    },
  };

  beforeAll(async () => {
    stores = await createTestStores();
    log = await createTestLog();
  }, START_MS);
  afterAll(async () => {
    await log?.drop();
    await stores?.close();
  });

  async function chainWith(records: readonly UnplacedRecord[]): Promise<string> {
    const chain = `chain${names++}`;
    await log.append(chain, records);
    return chain;
  }

  return {
    world,
    chainWith,
    async straight(records) {
      const chain = await chainWith(records);
      await deriveToEnd(chain, world);
      return chain;
    },
  };
}
