/** /api/market/estimate and /api/market/best-conversion: estimates of the daemon, which include pending conversions. */

import { coinsToSatoshis } from '../../../domain/satoshi.ts';
import type { ApiContext } from '../../api-context.ts';
import { ApiError } from '../../http/api-error.ts';
import { chainParameter, queryParameter, requiredQuery } from '../../http/parameters.ts';
import { liveRoute } from '../../http/route.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { chainState } from '../../state/chain-state.ts';
import { findCurrency } from '../../state/find-currency.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { bestConversion, type Conversions, estimateConversion } from './best-conversion.ts';
import { bestConversion as bestConversionSchema, conversionEstimate } from './estimate-schema.ts';
import { readMarket } from './live-baskets.ts';

/** Text, because a double cannot represent every amount. */
const AMOUNT = { type: 'string', pattern: '^(?=.*[1-9])\\d{1,10}(\\.\\d{1,8})?$' } as const;

const parameters = {
  from: requiredQuery('Currency given: name or i-address', writtenName),
  to: requiredQuery('Currency wanted: name or i-address', writtenName),
  amount: requiredQuery('Coins of `from`, above 0, at most 8 decimals', AMOUNT),
  chain: chainParameter,
};

interface EstimateRequest {
  readonly chain: string;
  readonly from: string;
  readonly to: string;
  readonly amount: string;
}

/** Reads all that a request needs from the index, so that the snapshot is closed before the daemon is called. @throws ApiError not_found */
async function readRequest(api: ApiContext, { chain, from, to, amount }: EstimateRequest, through?: string) {
  const daemon = api.daemons.get(chain);
  if (!daemon) throw new ApiError('daemon_error', `no daemon of ${chain} is configured`);
  return api.snapshot(async (read) => {
    tipHeight(read, chain);
    const market = await readMarket(read, api);
    const idOf = (text: string, parameter: string) =>
      findCurrency(market.currencies, api, chain, text, parameter).currencyId;
    const only = through === undefined ? null : idOf(through, 'via');
    const baskets = market.baskets.filter((one) => one.chain === chain && (only === null || one.currencyId === only));
    const given: Conversions = { baskets, currencies: market.currencies, daemon };
    const headers = { 'X-Chain-State': chainState(api, read.state, chain) };
    return {
      request: { from: idOf(from, 'from'), to: idOf(to, 'to'), amount: coinsToSatoshis(amount) },
      given,
      headers,
    };
  });
}

const estimate = liveRoute({
  path: '/api/market/estimate',
  summary: 'Estimated output of a conversion through one basket now, from the daemon',
  parameters: {
    ...parameters,
    via: queryParameter(
      'Basket to convert through: name or i-address; by default the basket with the largest output',
      writtenName,
    ),
  },
  response: conversionEstimate,
  weight: 5,
  tier: 'developer',
  cache: 'none',
  async handler({ params, api }) {
    const { request, given, headers } = await readRequest(api, params, params.via);
    const made = await estimateConversion(request, given);
    if (!made) {
      const way = params.via === undefined ? 'no basket converts' : `${params.via} does not convert`;
      throw new ApiError('not_convertible', `${way} ${params.from} to ${params.to} on ${params.chain}`);
    }
    return { headers, body: { chain: params.chain, ...made } };
  },
});

const best = liveRoute({
  path: '/api/market/best-conversion',
  summary: 'The best routes to convert, through one or two baskets, largest output first, as the daemon estimates them',
  parameters,
  response: bestConversionSchema,
  weight: 5,
  tier: 'developer',
  cache: 'none',
  async handler({ params, api }) {
    const { request, given, headers } = await readRequest(api, params);
    const made = await bestConversion(request, given);
    if (!made) throw new ApiError('not_found', `no route converts ${params.from} to ${params.to} on ${params.chain}`);
    return { headers, body: { chain: params.chain, ...made } };
  },
});

export const marketEstimateRoutes = [estimate, best];
