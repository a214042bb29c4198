/** /api/blocks/at: the block of a time. */
import { notFound } from '../../http/api-error.ts';
import { chainParameter, requiredQuery } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { parseTime, TIME } from '../../http/time-parameter.ts';
import { heightAtTime } from '../../state/block-at.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { BLOCK_COLUMNS, blockAnswer, readBlock } from './block-rows.ts';
import { blockRow } from './schema.ts';

const SQL = `SELECT ${BLOCK_COLUMNS} FROM blocks WHERE chain = $1 AND height = $2`;

const at = stateRoute({
  path: '/api/blocks/at',
  summary: 'The newest block at a time: the last one such that neither it nor any block before it has a later time',
  parameters: { time: requiredQuery('ISO 8601 or seconds since the epoch', TIME), chain: chainParameter },
  response: blockRow,
  errors: ['not_found'],
  weight: 2,
  cache: 'state',
  scope: 'chain',
  settledAt: ({ height }) => height + 1, // the next block rules out every later block
  async handler({ params: { time, chain }, read }) {
    tipHeight(read, chain);
    const height = await heightAtTime(read, chain, parseTime(time, 'time'));
    const block = height === null ? undefined : await read.row(readBlock, SQL, [chain, height]);
    if (!block) throw notFound(`a block of ${chain} up to ${time}`);
    return blockAnswer(block);
  },
});

export const blockAtRoutes = [at];
