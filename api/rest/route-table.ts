/** Every REST path of the service, in the order of the index. */
import type { Route } from '../http/route.ts';
import { keyRoutes } from './account/key-routes.ts';
import { authRoutes } from './account/login-routes.ts';
import { planRoute } from './account/plan-routes.ts';
import { usageRoutes } from './account/usage-routes.ts';
import { balanceRoutes } from './addresses/balance-routes.ts';
import { addressOverTimeRoutes } from './addresses/over-time-routes.ts';
import { addressRoutes } from './addresses/routes.ts';
import { blockAtRoutes } from './blocks/at-routes.ts';
import { blockDetailRoutes } from './blocks/detail-routes.ts';
import { rawRoutes } from './blocks/raw-routes.ts';
import { reorgRoutes } from './blocks/reorg-routes.ts';
import { blockRoutes } from './blocks/routes.ts';
import { stakeRoutes } from './blocks/stake-routes.ts';
import { bridgeRoutes } from './bridge/routes.ts';
import { conversionRoutes } from './conversions/routes.ts';
import { oracleConversionRoutes } from './conversions/stamp-routes.ts';
import { conversionSummaryRoutes } from './conversions/summary-routes.ts';
import { currencyAtHeightRoutes } from './currencies/at-height-routes.ts';
import { currencyHolderRoutes } from './currencies/holder-routes.ts';
import { currencyListRoutes } from './currencies/list-routes.ts';
import { currencyRoutes } from './currencies/routes.ts';
import { datasetRoutes } from './datasets/routes.ts';
import { identityChangeRoutes } from './identities/change-routes.ts';
import { identityContentRoutes } from './identities/content-routes.ts';
import { identityEventRoutes } from './identities/event-routes.ts';
import { identityRoutes } from './identities/routes.ts';
import { identityTreeRoutes } from './identities/tree-routes.ts';
import { candleRoutes } from './market/candle-routes.ts';
import { marketEstimateRoutes } from './market/estimate-routes.ts';
import { marketHistoryRoutes } from './market/history-routes.ts';
import { marketListRoutes } from './market/list-routes.ts';
import { marketMarkRoutes } from './market/mark-routes.ts';
import { marketPairRoutes } from './market/pair-routes.ts';
import { pairVolumeRoutes } from './market/pair-volume-routes.ts';
import { marketSummaryRoutes } from './market/summary-routes.ts';
import { supplyTextRoutes } from './market/supply-text-routes.ts';
import { tickerRoutes } from './market/ticker-routes.ts';
import { marketVolumeRoutes } from './market/volume-routes.ts';
import { mempoolEstimateRoutes } from './mempool/estimate-routes.ts';
import { mempoolRoutes } from './mempool/routes.ts';
import { networkAtHeightRoutes } from './network/at-height-routes.ts';
import { chartRoutes } from './network/chart-routes.ts';
import { pulseRoutes } from './network/pulse-routes.ts';
import { networkStatsRoutes } from './network/routes.ts';
import { oracleHistoryRoutes } from './prices/history-routes.ts';
import { oraclePriceRoutes } from './prices/routes.ts';
import { nameRoutes } from './search/names-routes.ts';
import { searchRoutes } from './search/routes.ts';
import { suggestRoutes } from './search/suggest-routes.ts';
import { asyncDocumentRoute, docsPage, docsParts, documentRoute } from './service/documentation-routes.ts';
import { healthRoutes } from './service/health-routes.ts';
import { errorsRoute, indexRoute, metricsRoute } from './service/routes.ts';
import { serviceStatusRoutes } from './service/status-routes.ts';
import { statsRoutes } from './service/sync-routes.ts';
import { transactionRoutes } from './transactions/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

const subjects = [
  ...oraclePriceRoutes,
  ...oracleHistoryRoutes,
  ...oracleConversionRoutes,
  ...marketSummaryRoutes,
  ...marketListRoutes,
  ...marketPairRoutes,
  ...pairVolumeRoutes,
  ...marketVolumeRoutes,
  ...marketHistoryRoutes,
  ...candleRoutes,
  ...marketMarkRoutes,
  ...marketEstimateRoutes,
  ...tickerRoutes,
  ...supplyTextRoutes,
  ...blockRoutes,
  ...blockAtRoutes,
  ...blockDetailRoutes,
  ...reorgRoutes,
  ...transactionRoutes,
  ...rawRoutes,
  ...addressRoutes,
  ...addressOverTimeRoutes,
  ...balanceRoutes,
  ...stakeRoutes,
  ...identityRoutes,
  ...identityChangeRoutes,
  ...identityContentRoutes,
  ...identityTreeRoutes,
  ...identityEventRoutes,
  ...currencyRoutes,
  ...currencyListRoutes,
  ...currencyAtHeightRoutes,
  ...currencyHolderRoutes,
  ...conversionRoutes,
  ...mempoolRoutes,
  ...mempoolEstimateRoutes,
  ...conversionSummaryRoutes,
  ...bridgeRoutes,
  ...datasetRoutes,
  ...searchRoutes,
  ...suggestRoutes,
  ...nameRoutes,
  ...statsRoutes,
  ...networkStatsRoutes,
  ...networkAtHeightRoutes,
  ...chartRoutes,
  ...pulseRoutes,
  ...serviceStatusRoutes,
  ...healthRoutes,
  ...authRoutes,
  ...keyRoutes,
  ...usageRoutes,
  ...webhookRoutes,
];

const described: readonly Route[] = [
  indexRoute(() => listed),
  ...subjects,
  planRoute(() => listed),
  errorsRoute,
  metricsRoute,
  asyncDocumentRoute,
];
/** Routes that the index lists: all except the parts of the docs page. */
const listed: readonly Route[] = [...described, documentRoute(described), docsPage];

export const routeTable: readonly Route[] = [...listed, ...docsParts];

type ServiceRoute =
  | ReturnType<typeof indexRoute | typeof documentRoute | typeof planRoute>
  | typeof errorsRoute
  | typeof asyncDocumentRoute;
/** Each route with its own type; the client's types are derived from it. */
export type TableRoute = (typeof subjects)[number] | ServiceRoute;
