/** /api/stats/pulse: the newest blocks of all chains. */

import { stateRoute } from '../../http/route.ts';
import { BLOCK_COLUMNS, type BlockAnswer, blockAnswer, readBlock } from '../blocks/block-rows.ts';
import { pulse } from './schema.ts';

const SHOWN = 20;
/** Blocks of each chain on its own: a slow or stalled chain may have none among the newest of all. */
const OF_EACH = 7;
const NEWEST_SQL = `SELECT ${BLOCK_COLUMNS} FROM blocks WHERE chain = $1 ORDER BY height DESC LIMIT ${SHOWN}`;

const route = stateRoute({
  path: '/api/stats/pulse',
  summary: 'The tip and the newest blocks of each chain, and the newest blocks of all',
  parameters: {},
  response: pulse,
  weight: 1,
  cache: 'prepared',
  scope: 'all',
  async handler({ read, api }) {
    const chains: (readonly [string, readonly BlockAnswer[]])[] = [];
    for (const { name } of api.config.chains) {
      const blocks = (await read.rows(readBlock, NEWEST_SQL, [name])).map(blockAnswer);
      if (blocks.length > 0) chains.push([name, blocks]);
    }
    return {
      chains: Object.fromEntries(chains.flatMap(([name, [tip]]) => (tip ? [[name, tipOf(tip)]] : []))),
      blocks: mergedByTime(chains.map(([, blocks]) => blocks)).slice(0, SHOWN),
      newest: Object.fromEntries(chains.map(([name, blocks]) => [name, blocks.slice(0, OF_EACH)])),
    };
  },
});

const tipOf = ({ height, hash, time, txCount, validationType }: BlockAnswer) => ({
  height,
  hash,
  time,
  txCount,
  validationType,
});

/** Merges lists, latest time first, but keeps each list's order: a block may have an earlier time than the block below it. */
export function mergedByTime<T extends { readonly time: number }>(lists: readonly (readonly T[])[]): T[] {
  const left = lists.map((list) => [...list]);
  const merged: T[] = [];
  for (;;) {
    const next = left.reduce((best, list) => ((list[0]?.time ?? -1) > (best[0]?.time ?? -1) ? list : best), []).shift();
    if (!next) return merged;
    merged.push(next);
  }
}

export const pulseRoutes = [route];
