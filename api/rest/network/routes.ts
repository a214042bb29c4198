/** /api/stats/network: figures of a chain, served without waiting for its daemon. */
import { chainParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coins, coinsOrNull } from '../../http/values.ts';
import { supplyAt } from '../../state/supply.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { figuresAnswer } from './chain-figures.ts';
import { networkStats } from './schema.ts';
import { averageBlockTime, inPools, readWindow, stakeRatios, WINDOW_SQL } from './window-rows.ts';

const network = stateRoute({
  path: '/api/stats/network',
  summary: 'Hash rate, difficulty, staking, supply and block time of a chain',
  parameters: { chain: chainParameter },
  response: networkStats,
  weight: 1,
  cache: 'prepared',
  scope: 'chain',
  extraTag: ({ params, api }) => api.figures.saidAt(api.chain(params.chain)),
  async handler({ params, read, api }) {
    const chain = api.chain(params.chain);
    const tip = tipHeight(read, chain.name);
    const window = await read.row(readWindow, WINDOW_SQL, [chain.name, tip]);
    const pools = await inPools(read, chain.name, api.currencies.nativeId(chain), tip);
    const indexed = await supplyAt(read, api, chain.name, tip);
    const supply = indexed ? indexed.transparent + indexed.shielded : api.figures.lastKnownSupply(chain, tip);
    return {
      chain: chain.name,
      height: tip,
      avgBlockTime: averageBlockTime(window),
      ...stakeRatios(window),
      ...figuresAnswer(api.figures.lastKnown(chain, tip), supply),
      circulatingSupply: coinsOrNull(supply),
      inPools: coins(pools),
    };
  },
});

export const networkStatsRoutes = [network];
