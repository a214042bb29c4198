/** Services available to every handler. */
import type { ClickHouse } from '../infra/clickhouse/clickhouse.ts';
import type { Logger } from '../infra/logger.ts';
import type { Postgres } from '../infra/postgres/postgres.ts';
import type { VerusdClient } from '../infra/verusd/verusd-client.ts';
import type { ChainConfig, Config } from '../schemas/config.ts';
import type { Access } from './access/access.ts';
import type { Login } from './access/login.ts';
import type { Mempools } from './mempool/mempools.ts';
import type { CurrencyDirectory } from './state/currency-directory.ts';
import type { DaemonFigures } from './state/daemon-figures.ts';
import type { Health } from './state/health-watch.ts';
import type { Memo } from './state/memo.ts';
import type { NativeCurrencies } from './state/native-currencies.ts';
import type { WithSnapshot } from './state/snapshot.ts';
import type { StateWatch } from './state/state-watch.ts';
import type { Webhooks } from './webhooks/webhooks.ts';

export interface ApiContext {
  readonly config: Config;
  readonly release: string;
  readonly logger: Logger;
  readonly watch: StateWatch;
  readonly clickhouse: Pick<ClickHouse, 'rows'>;
  /** For writes of a request; reads of chain data come from a snapshot. */
  readonly postgres: Postgres;
  readonly login: Login;
  readonly webhooks: Webhooks;
  /** Current state of the allowances. */
  readonly standings: Access['standings'];
  readonly daemons: ReadonlyMap<string, VerusdClient>;
  /** Mempools of the chains that this process follows. */
  readonly mempools: Mempools;
  readonly currencies: CurrencyDirectory;
  readonly natives: NativeCurrencies;
  readonly figures: DaemonFigures;
  /** Cache of values that stay valid until the state changes. */
  readonly memo: Memo;
  readonly snapshot: WithSnapshot;
  readonly health: Pick<Health, 'reasons' | 'notes'>;
  /** The configured chain with this name, which must be a validated parameter. */
  chain(name: string): ChainConfig;
}
