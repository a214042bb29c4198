/** Defaults of the four main chains. The file configures other chains; its entry for one of these names overrides parts of the defaults. */
import type { ChainConfig, Mark } from '../../schemas/config.ts';

type ChainDefaults = Omit<ChainConfig, 'rpc'>;

const COMMON = {
  stableAnchors: [],
  blockSeconds: 60,
  finalityDepth: 100,
  minBasketAge: 1000,
  requireEmptyWallet: false,
} as const;
const MAIN = { ...COMMON, networkRoot: 'VRSC' } as const;

/** The command that starts the recorded nodes fills in `rpc`. */
const DEMO = { ...COMMON, rpc: '', networkRoot: 'VRSCTEST', minBasketAge: 20 } as const;

/** Root currencies at the top of the names of a network; verusd knows no others. */
export const NETWORK_ROOTS: readonly string[] = ['VRSC', 'VRSCTEST'];

/** Defaults of every chain. */
export const CHAIN_DEFAULTS = COMMON;

export const MAIN_CHAINS: readonly ChainDefaults[] = [
  {
    ...MAIN,
    name: 'vrsc',
    rootCurrency: 'VRSC',
    stableAnchors: [
      'iGBs4DWztRNvNEJBt4mqHszLxfKTNHTkhM', // DAI.vETH
      'i61cV2uicKSi1rSMQCBNQeSYC3UAi9GVzd', // vUSDC.vETH
      'i9oCSqKALwJtcv49xUKS2U2i79h1kX6NEY', // vUSDT.vETH
    ],
  },
  { ...MAIN, name: 'varrr', rootCurrency: 'vARRR' },
  { ...MAIN, name: 'vdex', rootCurrency: 'vDEX' },
  { ...MAIN, name: 'chips', rootCurrency: 'CHIPS', blockSeconds: 10 },
];

/** Events on the main chains that their numbers alone do not explain. */
export const MAIN_MARKS: readonly Mark[] = [
  {
    from: Date.UTC(2026, 4, 17) / 1000,
    to: Date.UTC(2026, 6, 7, 17) / 1000,
    chains: MAIN_CHAINS.map(({ name }) => name),
    text:
      'The bridge exploit of 17 May 2026, up to the restoration of 7 July 2026, which set reserves and balances of bridged ETH and tBTC to about 73 % ' +
      'without a transaction. All numbers are as the chains report them.',
    link: 'https://github.com/VerusCoin/Verus-Desktop/releases',
  },
];

/** The bundled recording of a private test chain. */
export const DEMO_CHAIN: ChainConfig = {
  ...DEMO,
  name: 'vrsctest',
  rootCurrency: 'VRSCTEST',
  stableAnchors: ['iKbuNyLVsZYADYRfhAS2KxTQYJCewHLHgg'], // usdx
};

/** The demo chain, and a pair of chains of another private network, whose first chain has the same root currency. */
export const DEMO_CHAINS: readonly ChainConfig[] = [
  DEMO_CHAIN,
  { ...DEMO, name: 'root', rootCurrency: 'VRSCTEST' },
  { ...DEMO, name: 'pchain', rootCurrency: 'pchain' },
];

/** First path segments of the service's own URLs, which no chain may have as its name. */
export const RESERVED_NAMES: readonly string[] = [
  'api',
  'rpc',
  'metrics',
  'datasets',
  'assets',
  'market',
  'search',
  'login',
  'account',
  'usage',
  'webhooks',
  'operator',
  'status',
  'address',
  'about',
];
