/** A separate chain for each history, in the stores and the log of one file of laws; digests do not include chain names. */
import { afterAll, beforeAll } from 'vitest';
import type { Stores } from '../../infra/stores.ts';
import { createTestStores } from '../support/infra/test-stores.ts';
import type { UnplacedRecord } from './chain-records.ts';
import { createTestLog, deriveToEnd, type TestLog } from './replay.ts';

const START_MS = 300_000;

export interface LawChains {
  /** Available while a test runs. */
  readonly world: { readonly stores: Stores; readonly log: TestLog };
  /** Creates a chain whose log has the records. */
  chainWith(records: readonly UnplacedRecord[]): Promise<string>;
  /** The same, derived to its end without interruption. */
  straight(records: readonly UnplacedRecord[]): Promise<string>;
}

/** Provides the chains of a file, whose stores and log exist from its first test to its last. */
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
