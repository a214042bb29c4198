/** The effective configuration. Read and checked by infra/config; contract: docs/configuration.md. */

import type { PriceLimits } from '../domain/prices.ts';
export interface ChainConfig {
  /** Short lower-case name: `chain` parameter, partition name. */
  readonly name: string;
  /** http://user:password@host:port; of several daemons the first healthy one is asked. */
  readonly rpc: string | readonly string[];
  /** ZMQ publishers of the daemons, tcp://host:port, in their order; null for one that publishes nothing. */
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

export type Role = 'tail' | 'derive' | 'price' | 'serve';

export type PriceLimitsByCurrency = Readonly<Record<string, PriceLimits>>;

/** Ascending. */
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
  /** Seconds between two looks at what has changed; 0: the folder is served as it is. */
  readonly refreshSeconds: number;
  /** What each network may fetch. */
  readonly bytesPerHour: number;
  /** How readers reach the service, such as `https://host`; null: by http and the host that a request names. */
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
  /** Port for /metrics and /api/health alone; null: only the API serves them. */
  readonly metricsPort: number | null;
  readonly priceFeedUrls: readonly string[];
  readonly trustedProxies: readonly string[];
  /** Hosts as clients write them, with the port unless that goes without saying; null: the addresses of this machine at the port. */
  readonly publicHosts: readonly string[] | null;
  readonly logLevel: string;
  /** Seconds since the epoch: blocks before it are stamped by the backfill regime. */
  readonly cutover: number;
  /** USD. */
  readonly minListedDepthUsd: number;
  readonly minBasketDepthUsd: number;
  /** By currency: the backfill regime does not believe a price outside. */
  readonly priceLimits: PriceLimitsByCurrency;
  readonly priceFeedIds: Readonly<Record<string, string>>;
  readonly tiers: Readonly<Record<AccessTier, { readonly creditsPerMinute: number }>>;
  readonly keylessRequestsPerMinute: number;
  /** Webhooks may be sent to this machine too, there over http as well. */
  readonly webhookLocalReceivers: boolean;
  /** Oldest first. */
  readonly marks: readonly Mark[];
  readonly datasets: DatasetsConfig;
  /** The bundled recordings are played instead of daemons: at its end a chain stands still and that is no stall. */
  readonly demo: boolean;
  /** Seconds between two blocks of the demo once its reorganisation is over. */
  readonly demoBlockSeconds: number;
  /** Chains that are recordings; known once they are played. */
  readonly recordings: readonly PlayedRecording[];
}

/** What decides prices and stamps. */
export type PricingConfig = Pick<Config, 'cutover' | 'minBasketDepthUsd' | 'priceLimits'>;

export const datasetsFolder = ({ datasets, dataDir }: Pick<Config, 'datasets' | 'dataDir'>): string =>
  datasets.folder ?? `${dataDir}/datasets`;

/** Everything embedded lives in the data folder; with all three addresses given there is nothing in it. */
export function usesDataFolder(config: Config): boolean {
  return !(config.databaseUrl && config.clickhouseUrl && config.kafkaBrokers);
}
