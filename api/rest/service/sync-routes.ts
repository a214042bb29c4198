/** /api/stats */

import type { ApiContext } from '../../api-context.ts';
import { chainParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { heightOfDaemon, SYNCED_BLOCKS } from '../../state/index-lag.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { countTransactions } from './count-transactions.ts';
import { syncState } from './schema.ts';

/** Latest reports of the stages, which change even while the stores do not. */
function lastSaid({ watch }: Pick<ApiContext, 'watch'>, chain: string) {
  return {
    daemonHeight: heightOfDaemon(watch, chain),
    updatedAt: watch.statuses.of(chain, 'derive')?.movedAt ?? null,
  };
}

const stats = stateRoute({
  path: '/api/stats/',
  summary: 'How far a chain is indexed, and how many transactions it has',
  parameters: { chain: chainParameter },
  response: syncState,
  weight: 1,
  cache: 'prepared',
  scope: 'chain',
  extraTag({ params, api }) {
    const { daemonHeight, updatedAt } = lastSaid(api, params.chain);
    return `${daemonHeight}-${updatedAt === null ? 0 : Date.parse(updatedAt)}`;
  },
  async handler({ params, read, api }) {
    const { chain } = params;
    const indexedHeight = tipHeight(read, chain);
    const transactions = await countTransactions(api, [chain], read.state);
    const { daemonHeight, updatedAt } = lastSaid(api, chain);
    const height = daemonHeight === null ? null : Math.max(daemonHeight, indexedHeight);
    return {
      chain,
      height,
      indexedHeight,
      transactions,
      synced: height !== null && height - indexedHeight <= SYNCED_BLOCKS,
      updatedAt,
    };
  },
});

export const statsRoutes = [stats];
