/** The module of each view, loaded when the view is opened. */
import type { ComponentType } from 'preact';
import type { ViewProps } from './view-props.ts';
import type { ViewName } from './views.ts';

type Modules = { readonly [Name in ViewName]: () => Promise<{ readonly View: ComponentType<ViewProps<Name>> }> };

export const viewModules: Modules = {
  live: () => import('./views/live.tsx'),
  blocks: () => import('./views/blocks.tsx'),
  block: () => import('./views/block.tsx'),
  tx: () => import('./views/tx.tsx'),

  conversion: () => import('./views/conversion.tsx'),
  address: () => import('./views/address.tsx'),
  identity: () => import('./views/identity.tsx'),
  identities: () => import('./views/identities.tsx'),
  currency: () => import('./views/currency.tsx'),
  currencies: () => import('./views/currencies.tsx'),
  stakes: () => import('./views/stakes.tsx'),
  richlist: () => import('./views/richlist.tsx'),
  bridge: () => import('./views/bridge.tsx'),
  status: () => import('./views/status.tsx'),
  search: () => import('./views/search.tsx'),
  chain: () => import('./views/chain.tsx'),

  market: () => import('./views/market.tsx'),
  price: () => import('./views/price.tsx'),
  basket: () => import('./views/basket.tsx'),
  pair: () => import('./views/pair.tsx'),
  conversions: () => import('./views/conversions.tsx'),
  convert: () => import('./views/convert.tsx'),
  pools: () => import('./views/pools.tsx'),
  volume: () => import('./views/volume.tsx'),

  login: () => import('./views/login.tsx'),
  account: () => import('./views/account.tsx'),
  keys: () => import('./views/keys.tsx'),
  usage: () => import('./views/usage.tsx'),
  webhooks: () => import('./views/webhooks.tsx'),
  webhook: () => import('./views/webhook.tsx'),
};
