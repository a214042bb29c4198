/** The effective configuration. Read and checked by infra/config; contract: docs/configuration.md. */
import type { PriceLimits } from '../domain/prices.ts';

/** Pattern of a chain's configured name. */
export const CHAIN_NAME = '[a-z][a-z0-9_-]{0,31}';

export interface ChainConfig {
  /** Short lower-case name: `chain` parameter, partition name. */
  readonly name: string;
  /** http://user:password@host:port; with several daemons the first healthy one is used. */
  readonly rpc: string | readonly string[];
  /** ZMQ publishers of the daemons, tcp://host:port, in the order of `rpc`; null for a daemon that publishes nothing. */
  readonly zmq?: string | readonly (string | null)[];
  /** The chain's own currency: `VRSC`, `vARRR`. */
  readonly rootCurrency: string;
  /** Own currency of the network's first chain, at the top of every name: `VRSC` on each of the main chains. */
  readonly networkRoot: string;
  /** i-addresses worth exactly 1 USD. */
  readonly stableAnchors: readonly string[];
  readonly blockSeconds: number;
  /** Blocks; nothing is rewound deeper than this. */
  readonly finalityDepth: number;
  /** Blocks of this chain that a basket must be live before it prices anything. */
  readonly minBasketAge: number;
  /** Methods that touch the wallet of a daemon are served only while the wallets of all daemons are known to be empty. */
  readonly requireEmptyWallet: boolean;
}

export const ROLES = ['tail', 'derive', 'price', 'serve'] as const;
export type Role = (typeof ROLES)[number];

export type PriceLimitsByCurrency = Readonly<Record<string, PriceLimits>>;

/** In ascending order. */
export const TIERS = ['free', 'developer', 'pro'] as const;
export type AccessTier = (typeof TIERS)[number];

export interface PlayedRecording {
  readonly chain: string;
  readonly text: string;
  /** Height at which it ends. */
  readonly tip: number;
}

/** A span of time that charts of these chains mark. */
export interface Mark {
  /** Seconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** Names of configured chains. */
  readonly chains: readonly string[];
  readonly text: string;
  readonly link: string | null;
}

export interface DatasetsConfig {
  /** Null: `datasets` in the data folder. */
  readonly folder: string | null;
  /** Seconds between two checks for changes; 0: the folder is served as it is. */
  readonly refreshSeconds: number;
  /** Bytes that each client network may fetch in an hour. */
  readonly bytesPerHour: number;
  /** Address at which readers reach the service, such as `https://host`; null: http and the host that a request names. */
  readonly url: string | null;
}

export interface Config {
  /** The first chain is the default one. */
  readonly chains: readonly ChainConfig[];
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  readonly clickhouseUrl: string | null;
  readonly kafkaBrokers: readonly string[] | null;
  readonly roles: readonly Role[];
  readonly host: string;
  readonly port: number;
  /** Separate port for /metrics and /api/health; null: only the API serves them. */
  readonly metricsPort: number | null;
  readonly priceFeedUrls: readonly string[];
  readonly trustedProxies: readonly string[];
  /** Hosts as clients write them, with the port unless it is the default one; null: the addresses of this machine with `port`. */
  readonly publicHosts: readonly string[] | null;
  readonly logLevel: string;
  /** Seconds since the epoch: blocks before it are stamped by the backfill regime. */
  readonly cutover: number;
  /** USD. */
  readonly minListedDepthUsd: number;
  readonly minBasketDepthUsd: number;
  /** By currency: the backfill regime does not believe a price outside its limits. */
  readonly priceLimits: PriceLimitsByCurrency;
  readonly priceFeedIds: Readonly<Record<string, string>>;
  readonly tiers: Readonly<Record<AccessTier, { readonly creditsPerMinute: number }>>;
  readonly keylessRequestsPerMinute: number;
  /** Whether webhooks may also be sent to this machine, and there over http as well. */
  readonly webhookLocalReceivers: boolean;
  /** Oldest first. */
  readonly marks: readonly Mark[];
  readonly datasets: DatasetsConfig;
  /** Whether bundled recordings are played instead of daemons: a chain that reaches its end then counts as ended, not as stalled. */
  readonly demo: boolean;
  /** Seconds between two blocks of the demo once its reorganisation is over. */
  readonly demoBlockSeconds: number;
  /** Chains that are played from recordings; known only once playing has begun. */
  readonly recordings: readonly PlayedRecording[];
}

/** Settings that determine prices and stamps. */
export type PricingConfig = Pick<Config, 'cutover' | 'minBasketDepthUsd' | 'priceLimits'>;

export const datasetsFolder = ({ datasets, dataDir }: Pick<Config, 'datasets' | 'dataDir'>): string =>
  datasets.folder ?? `${dataDir}/datasets`;

/** False when all three addresses are configured: the data folder is for the embedded log and stores. */
export function usesDataFolder(config: Config): boolean {
  return !(config.databaseUrl && config.clickhouseUrl && config.kafkaBrokers);
}
