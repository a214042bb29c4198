/** /api/currency/:nameOrId/supply and …/state: a currency as of a block. */
import { isLiveBasket } from '../../../domain/basket-liveness.ts';
import { parseReserves } from '../../../domain/reserves.ts';
import { ApiError } from '../../http/api-error.ts';
import { stateRoute } from '../../http/route.ts';
import { coins, coinsOrNull } from '../../http/values.ts';
import { currencyStateAt, currencySupply } from './at-height-schema.ts';
import { atHeightParameters, currencyAt, placeAnswer, stateAt, supplyThen } from './currency-at.ts';

const supply = stateRoute({
  path: '/api/currency/:nameOrId/supply',
  summary: 'Supply of a currency, now or at the end of a block',
  parameters: atHeightParameters,
  response: currencySupply,
  errors: ['daemon_error'],
  weight: 2,
  cache: 'state',
  scope: 'all',
  async handler(call) {
    const at = await currencyAt(call);
    const then = await supplyThen(call.read, call.api, at);
    return async () => ({
      ...placeAnswer(at),
      supply: coinsOrNull(await then.supply()),
      stateHeight: then.stateHeight,
    });
  },
});

const state = stateRoute({
  path: '/api/currency/:nameOrId/state',
  summary: 'State of a currency, now or at the end of a block; the state of a basket includes its reserves',
  parameters: atHeightParameters,
  response: currencyStateAt,
  weight: 2,
  cache: 'state',
  scope: 'all',
  async handler(call) {
    const at = await currencyAt(call);
    const currencies = await call.api.currencies.of(call.read);
    const row = await stateAt(call.read, at);
    if (!row) {
      const { entry, block } = at;
      throw new ApiError(
        'not_found',
        `${entry.fullyQualifiedName} has no state up to block ${block.height} of ${entry.chain}`,
      );
    }
    return {
      ...placeAnswer(at),
      stateHeight: row.from_height,
      txid: row.txid,
      vout: row.vout,
      flags: row.flags,
      live: isLiveBasket(row.flags) && row.supply > 0n,
      supply: coins(row.supply),
      reserves: parseReserves(row.reserves).map(({ currencyId, weight, reserves, priceInReserve }) => ({
        currencyId,
        currencyName: currencies.name(currencyId),
        weight: coins(weight),
        reserve: coins(reserves),
        priceInReserve: coins(priceInReserve),
      })),
    };
  },
});

export const currencyAtHeightRoutes = [supply, state];
