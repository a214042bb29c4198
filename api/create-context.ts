/** What the handlers share, made once. */
import type { ApiContext } from './api-context.ts';
import type { ApiOptions } from './server.ts';
import { createCurrencyDirectory } from './state/currency-directory.ts';
import { createDaemonFigures } from './state/daemon-figures.ts';
import { createMemo } from './state/memo.ts';
import { createNativeCurrencies } from './state/native-currencies.ts';
import { createSnapshots } from './state/snapshot.ts';
import type { StateWatch } from './state/state-watch.ts';
import { askStores } from './state/store-health.ts';

/** Snapshots at once: the rest of the pool is left to the stages of this process. */
const SNAPSHOTS = 10;
const MEMO_ENTRIES = 10_000;
/** Of one statement of a request: seconds, bytes, rows. Postgres' bound is in every snapshot. */
const ANSWER_BOUNDS = { max_execution_time: 10, max_memory_usage: '1000000000', max_result_rows: '200000' } as const;

export function createContext(options: ApiOptions, watch: StateWatch): ApiContext {
  const { config, release, stores, daemons, domain, logger } = options;
  const chains = new Map(config.chains.map((chain) => [chain.name, chain]));
  return {
    config,
    release,
    logger,
    domain,
    watch,
    clickhouse: {
      ...stores.clickhouse,
      query: (sql, params) => stores.clickhouse.query(sql, params, ANSWER_BOUNDS),
    },
    daemons,
    currencies: createCurrencyDirectory(config.chains, domain),
    natives: createNativeCurrencies(daemons, logger),
    figures: createDaemonFigures(daemons, logger),
    memo: createMemo(MEMO_ENTRIES),
    snapshot: createSnapshots(stores.postgres, release, SNAPSHOTS),
    storeFaults: () => askStores(stores),
    chain(name) {
      const chain = chains.get(name);
      if (!chain) throw new TypeError(`${name} is no configured chain`);
      return chain;
    },
  };
}
