/** Every REST path of the service, in the order of the index. */
import type { Route } from '../http/route.ts';
import { addressRoutes } from './addresses.ts';
import { authRoutes } from './auth.ts';
import { balanceRoutes } from './balances.ts';
import { blockRoutes } from './blocks.ts';
import { bridgeRoutes } from './bridge.ts';
import { chartRoutes } from './charts.ts';
import { conversionRoutes } from './conversions.ts';
import { currencyRoutes } from './currencies.ts';
import { healthRoutes } from './health.ts';
import { identityRoutes } from './identities.ts';
import { identityContentRoutes } from './identity-content.ts';
import { identityTreeRoutes } from './identity-trees.ts';
import { keyRoutes } from './keys.ts';
import { marketEstimateRoutes } from './market-estimates.ts';
import { marketHistoryRoutes } from './market-history.ts';
import { marketListRoutes } from './market-lists.ts';
import { marketPairRoutes } from './market-pairs.ts';
import { marketSummaryRoutes } from './market-summary.ts';
import { marketVolumeRoutes } from './market-volume.ts';
import { networkAtHeightRoutes } from './network-at-height.ts';
import { networkStatsRoutes } from './network-stats.ts';
import { oracleConversionRoutes } from './oracle-conversions.ts';
import { oracleHistoryRoutes } from './oracle-history.ts';
import { oraclePriceRoutes } from './oracle-prices.ts';
import { pulseRoutes } from './pulse.ts';
import { rawRoutes } from './raw.ts';
import { searchRoutes } from './search.ts';
import { serviceRoutes } from './service-routes.ts';
import { serviceStatusRoutes } from './service-status.ts';
import { stakeRoutes } from './stakes.ts';
import { statsRoutes } from './stats.ts';
import { tickerRoutes } from './tickers.ts';
import { transactionRoutes } from './transactions.ts';
import { webhookRoutes } from './webhooks.ts';

export const routeTable: readonly Route[] = serviceRoutes([
  ...oraclePriceRoutes,
  ...oracleHistoryRoutes,
  ...oracleConversionRoutes,
  ...marketSummaryRoutes,
  ...marketListRoutes,
  ...marketPairRoutes,
  ...marketVolumeRoutes,
  ...marketHistoryRoutes,
  ...marketEstimateRoutes,
  ...tickerRoutes,
  ...blockRoutes,
  ...transactionRoutes,
  ...rawRoutes,
  ...addressRoutes,
  ...balanceRoutes,
  ...stakeRoutes,
  ...identityRoutes,
  ...identityContentRoutes,
  ...identityTreeRoutes,
  ...currencyRoutes,
  ...conversionRoutes,
  ...bridgeRoutes,
  ...searchRoutes,
  ...statsRoutes,
  ...networkStatsRoutes,
  ...networkAtHeightRoutes,
  ...chartRoutes,
  ...pulseRoutes,
  ...serviceStatusRoutes,
  ...healthRoutes,
  ...authRoutes,
  ...keyRoutes,
  ...webhookRoutes,
]);
