/** Creates the services that the handlers share. */
import type { Logger } from '../infra/logger.ts';
import type { Stores } from '../infra/stores.ts';
import type { VerusdClient } from '../infra/verusd/verusd-client.ts';
import type { Config } from '../schemas/config.ts';
import type { Access } from './access/access.ts';
import { daemonsOfOwner } from './access/lane-daemons.ts';
import { createLogin } from './access/login.ts';
import { createPriorityLanes, type PriorityLanes, type WorkOwner } from './access/priority-lanes.ts';
import { createPublicHosts } from './access/public-hosts.ts';
import type { ApiContext } from './api-context.ts';
import { ApiError } from './http/api-error.ts';
import type { HeldAnswers } from './http/held-answers.ts';
import type { Mempools } from './mempool/mempools.ts';
import type { CurrencyDirectory } from './state/currency-directory.ts';
import { createDaemonFigures } from './state/daemon-figures.ts';
import type { Health } from './state/health-watch.ts';
import { createMemo } from './state/memo.ts';
import { createNativeCurrencies } from './state/native-currencies.ts';
import type { WithSnapshot } from './state/snapshot.ts';
import type { StateWatch } from './state/state-watch.ts';
import type { Webhooks } from './webhooks/webhooks.ts';

const MEMO_BYTES = 32 * 1024 * 1024;
/** Fewer than the connections to ClickHouse, so that requests never block the pipeline. */
const STATEMENTS = { atOnce: 6, reserved: 1, mostWaiting: Number.POSITIVE_INFINITY };
/** Clients time out and retry after about this long. */
const WAIT_MS = 15_000;
/** Bounds of one ClickHouse statement of a request: seconds, bytes, rows. Postgres' bound is set on the reader pool. */
const ANSWER_BOUNDS = { max_execution_time: 10, max_memory_usage: 1_000_000_000, max_result_rows: 200_000 } as const;

export interface ContextOptions {
  readonly config: Config;
  /** Version of the program; part of every ETag. */
  readonly release: string;
  readonly stores: Pick<Stores, 'postgres' | 'clickhouse'>;
  /** By chain name. */
  readonly daemons: ReadonlyMap<string, VerusdClient>;
  readonly logger: Logger;
}

/** Parts that all callers share. */
interface ContextParts {
  readonly watch: StateWatch;
  readonly health: Health;
  readonly snapshots: (owner: WorkOwner) => WithSnapshot;
  /** By chain: the lanes that limit concurrent calls to its daemons. */
  readonly lanes: ReadonlyMap<string, PriorityLanes>;
  readonly answers: Pick<HeldAnswers, 'gather'>;
  readonly webhooks: Webhooks;
  readonly access: Pick<Access, 'standings'>;
  readonly mempools: Mempools;
  readonly currencies: CurrencyDirectory;
  readonly port: () => number;
}

/** `gone`: aborts when the client disconnects, for services made for a single request. */
type ContextOf = (owner: WorkOwner, gone?: AbortSignal) => ApiContext;

/** Returns a function that makes the services for one caller. Callers share everything but their places in queues for stores and daemons. */
export function createContexts(options: ContextOptions, parts: ContextParts): ContextOf {
  const { config, release, stores, daemons, logger } = options;
  const { watch, health, snapshots, lanes, answers, webhooks, access, mempools, currencies, port } = parts;
  const chains = new Map(config.chains.map((chain) => [chain.name, chain]));
  const figures = createDaemonFigures(daemons, logger);
  // Asks for the figures now, so that the first request for the status finds them.
  for (const chain of config.chains) figures.lastKnown(chain, watch.state.derived.get(chain.name)?.height ?? 0);
  const statements = createPriorityLanes(STATEMENTS);
  const hosts = createPublicHosts(config, port);
  const shared: Omit<ApiContext, 'daemons' | 'snapshot' | 'clickhouse' | 'login'> = {
    config,
    release,
    logger,
    watch,
    postgres: stores.postgres,
    webhooks,
    standings: access.standings,
    mempools,
    currencies,
    natives: createNativeCurrencies(daemons, logger),
    figures,
    memo: createMemo(MEMO_BYTES),
    health,
    chain(name) {
      const chain = chains.get(name);
      if (!chain) throw new TypeError(`${name} is not a configured chain`);
      return chain;
    },
  };
  return (owner, gone) => {
    const ownDaemons = () => daemonsOfOwner(daemons, lanes, answers, owner, gone);
    return {
      ...shared,
      clickhouse: {
        rows: (reader, sql, params) =>
          statements.run(owner, WAIT_MS, () => stores.clickhouse.rows(reader, sql, params, ANSWER_BOUNDS)),
      },
      snapshot: snapshots(owner),
      // Made lazily, because few requests need them.
      get daemons() {
        return ownDaemons();
      },
      get login() {
        return createLogin({
          postgres: stores.postgres,
          daemon(chain) {
            const daemon = ownDaemons().get(chain);
            if (!daemon) throw new ApiError('daemon_error', `no daemon of ${chain} is configured`);
            return daemon;
          },
          hosts,
          indexedHeight: (chain) => watch.state.derived.get(chain)?.height ?? null,
        });
      },
    };
  };
}
