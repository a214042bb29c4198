/** What every handler may use. */
import type { ClickHouse } from '../infra/clickhouse/clickhouse.ts';
import type { Logger } from '../infra/logger.ts';
import type { Postgres } from '../infra/postgres/postgres.ts';
import type { VerusdClient } from '../infra/verusd/verusd-client.ts';
import type { ChainConfig, Config } from '../schemas/config.ts';
import type { Login } from './access/login.ts';
import type { CurrencyDirectory } from './state/currency-directory.ts';
import type { DaemonFigures } from './state/daemon-figures.ts';
import type { Health } from './state/health-watch.ts';
import type { Memo } from './state/memo.ts';
import type { NativeCurrencies } from './state/native-currencies.ts';
import type { WithSnapshot } from './state/snapshot.ts';
import type { StateWatch } from './state/state-watch.ts';
import type { Webhooks } from './webhooks/webhooks.ts';

/** Pure functions of the domain that the program's start hands in, so that api does not depend on processors. */
export interface Domain {
  /** `alice@`, `sub.alice.VRSC@`, `Bridge.vETH` → i-address; null for what cannot be a name. */
  nameToAddress(name: string, networkRoot: string): string | null;
  /** `vrsc::data.type.string` → i-address; null for what cannot be such a name. */
  vdxfKey(qualifiedName: string, networkRoot: string): string | null;
  /** Keys of the protocol, which no person holds. */
  readonly systemAddresses: readonly string[];
  /** Integer from 0 to 100. */
  confidence(input: PriceTrust): number;
  /** `age` in blocks of the default chain; no guard means that no feed speaks of the price. */
  priceStatus(age: number, guard: PriceTrust['guard']): 'healthy' | 'warning' | 'rejected' | 'stale';
  /** Steps of a stamp from the JSON text of its inputs, in the order of computation. */
  explainStamp(inputs: string): readonly ExplainedStep[];
}

/** One step from the reserves of a basket to a USD column. */
export interface ExplainedStep {
  readonly step: string;
  readonly currencyId: string;
  readonly basketId: string | null;
  /** Arithmetic of kept inputs and earlier values, amounts in coins. */
  readonly expression: string;
  readonly value: string;
}

/** What the confidence of a price follows from; prices and depths scaled by 10^30. */
export interface PriceTrust {
  readonly tier: 0 | 1 | 2 | 3;
  readonly usd: bigint;
  readonly totalDepth: bigint;
  readonly entryPrices: readonly bigint[];
  /** Blocks between the tip and the price's last step. */
  readonly age: number;
  readonly guard: 'healthy' | 'warning' | 'rejected' | null;
}

export interface ApiContext {
  readonly config: Config;
  readonly release: string;
  readonly logger: Logger;
  readonly domain: Domain;
  readonly watch: StateWatch;
  readonly clickhouse: ClickHouse;
  /** For what a request writes; what it reads of the chains comes from a snapshot. */
  readonly postgres: Postgres;
  readonly login: Login;
  readonly webhooks: Webhooks;
  readonly daemons: ReadonlyMap<string, VerusdClient>;
  readonly currencies: CurrencyDirectory;
  readonly natives: NativeCurrencies;
  readonly figures: DaemonFigures;
  /** Values that are the same for as long as the state is. */
  readonly memo: Memo;
  /** The same for lists of keys, some kilobytes each. */
  readonly keyMemo: Memo;
  readonly snapshot: WithSnapshot;
  readonly health: Pick<Health, 'reasons' | 'notes'>;
  /** The chain of a checked parameter. */
  chain(name: string): ChainConfig;
}
