/** /api/stats/pulse: the newest blocks of all chains. */

import { stateRoute } from '../../http/route.ts';
import { BLOCK_COLUMNS, type BlockRecord, blockAnswer, readBlock } from '../blocks/block-rows.ts';
import { pulse } from './schema.ts';

const SHOWN = 20;
/** A chain that stands still, or whose blocks are rare, has none among the newest of all. */
const OF_EACH = 7;
const NEWEST_SQL = `SELECT ${BLOCK_COLUMNS} FROM blocks WHERE chain = $1 ORDER BY height DESC LIMIT ${SHOWN}`;

const route = stateRoute({
  path: '/api/stats/pulse',
  summary: 'The tip and the newest blocks of each chain, and the newest blocks of all',
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
      blocks: blocks.slice(0, SHOWN),
      newest: Object.fromEntries(
        tips.map(({ chain }) => [chain, blocks.filter((block) => block.chain === chain).slice(0, OF_EACH)]),
      ),
    };
  },
});

export const pulseRoutes = [route];
