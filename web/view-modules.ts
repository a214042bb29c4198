/** The module of each view, loaded when it is opened. */
import type { ComponentType } from 'preact';
import type { ViewProps } from './view-props.ts';
import type { ViewName } from './views.ts';

type Modules = { readonly [Name in ViewName]: () => Promise<{ readonly View: ComponentType<ViewProps<Name>> }> };

export const viewModules: Modules = {
  live: () => import('./views/live.tsx'),
  blocks: () => import('./views/blocks.tsx'),
  block: () => import('./views/block.tsx'),
  tx: () => import('./views/tx.tsx'),
  market: () => import('./views/market.tsx'),
  price: () => import('./views/price.tsx'),
  basket: () => import('./views/basket.tsx'),
  pair: () => import('./views/pair.tsx'),
  conversions: () => import('./views/conversions.tsx'),
  convert: () => import('./views/convert.tsx'),
  pools: () => import('./views/pools.tsx'),
  volume: () => import('./views/volume.tsx'),
};
