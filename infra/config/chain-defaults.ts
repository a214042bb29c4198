/** The four main chains. Any other chain is configured by file; a file entry of one of these names overrides parts of it. */
import type { ChainConfig } from '../../schemas/config.ts';

type ChainDefaults = Omit<ChainConfig, 'rpc'>;

const COMMON = { stableAnchors: [], blockSeconds: 60, finalityDepth: 100, minBasketAge: 1000 } as const;

/** Of any chain, where a file says nothing. */
export const CHAIN_DEFAULTS = COMMON;

export const MAIN_CHAINS: readonly ChainDefaults[] = [
  {
    ...COMMON,
    name: 'vrsc',
    rootCurrency: 'VRSC',
    stableAnchors: [
      'iGBs4DWztRNvNEJBt4mqHszLxfKTNHTkhM', // DAI.vETH
      'i61cV2uicKSi1rSMQCBNQeSYC3UAi9GVzd', // vUSDC.vETH
      'i9oCSqKALwJtcv49xUKS2U2i79h1kX6NEY', // vUSDT.vETH
    ],
  },
  { ...COMMON, name: 'varrr', rootCurrency: 'vARRR' },
  { ...COMMON, name: 'vdex', rootCurrency: 'vDEX' },
  { ...COMMON, name: 'chips', rootCurrency: 'CHIPS', blockSeconds: 10 },
];

/** The bundled recording of a private test chain; `rpc` is filled in by the command that starts its node. */
export const DEMO_CHAIN: ChainConfig = {
  ...COMMON,
  name: 'vrsctest',
  rpc: '',
  rootCurrency: 'VRSCTEST',
  stableAnchors: ['iKbuNyLVsZYADYRfhAS2KxTQYJCewHLHgg'], // usdx
  minBasketAge: 20,
};
