/** /api/stats/pulse: the newest blocks of all chains. */

import { stateRoute } from '../../http/route.ts';
import { BLOCK_COLUMNS, type BlockRecord, blockAnswer, readBlock } from '../blocks/routes.ts';
import { pulse } from './schema.ts';

const SHOWN = 20;
const NEWEST_SQL = `SELECT ${BLOCK_COLUMNS} FROM blocks WHERE chain = $1 ORDER BY height DESC LIMIT ${SHOWN}`;

const route = stateRoute({
  path: '/api/stats/pulse',
  summary: 'The tip of each chain and the newest blocks of all',
  parameters: {},
  response: pulse,
  weight: 1,
  tier: null,
  cache: 'prepared',
  scope: 'all',
  async handler({ read, api }) {
    const newest: BlockRecord[] = [];
    for (const chain of api.config.chains) newest.push(...(await read.rows(readBlock, NEWEST_SQL, [chain.name])));
    // Within a chain its order stands, whatever the block times say; chains are merged by time.
    const blocks = newest
      .map(blockAnswer)
      .sort((a, b) => (a.chain === b.chain ? b.height - a.height : b.time - a.time));
    const tips = api.config.chains.flatMap((chain) => blocks.find((block) => block.chain === chain.name) ?? []);
    return {
      chains: Object.fromEntries(
        tips.map(({ chain, height, hash, time, txCount, validationType }) => [
          chain,
          { height, hash, time, txCount, validationType },
        ]),
      ),
      blocks: withShares(blocks, api.config.chains.length),
    };
  },
});

/** A chain that stands still, or whose clock is behind, keeps its newest blocks in the answer. */
function withShares<Block extends { readonly chain: string }>(blocks: readonly Block[], chains: number): Block[] {
  const share = Math.floor(SHOWN / chains);
  const seen = new Map<string, number>();
  const isOfShare = blocks.map(({ chain }) => {
    const before = seen.get(chain) ?? 0;
    seen.set(chain, before + 1);
    return before < share;
  });
  let left = SHOWN - isOfShare.filter(Boolean).length;
  return blocks.filter((_, index) => isOfShare[index] || left-- > 0);
}

export const pulseRoutes = [route];
