/** /api/blocks */

import { countRowsByHeight } from '../../http/count-rows.ts';
import { heightCondition } from '../../http/height-range.ts';
import { listRoute } from '../../http/list-route.ts';
import { chainParameter, queryParameter } from '../../http/parameters.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { BLOCK_COLUMNS, blockAnswer, readBlock } from './block-rows.ts';
import { blockRow, VALIDATION_TYPES } from './schema.ts';

const list = listRoute({
  path: '/api/blocks/',
  summary: 'Blocks of a chain, newest first',
  parameters: {
    chain: chainParameter,
    validationType: queryParameter('Only blocks by proof of work, or by stake', {
      type: 'string',
      enum: VALIDATION_TYPES,
    }),
  },
  row: blockRow,
  reader: readBlock,
  key: [{ column: 'height', sql: 'height', kind: 'integer', order: 'DESC' }],
  async select({ params: { chain, validationType }, heights, read, api }) {
    const tip = tipHeight(read, chain);
    const values: unknown[] = [chain];
    const ofType = validationType === undefined ? '' : ` AND validation_type = $${values.push(validationType)}`;
    const rows = `blocks WHERE chain = $1${ofType}${heightCondition(heights, 'height', values)}`;
    const { fromHeight = 0, toHeight = tip } = heights;
    return {
      list: `blocks ${validationType ?? ''}`,
      sql: `SELECT ${BLOCK_COLUMNS} FROM ${rows}`,
      values,
      // Heights have no gaps, so subtraction counts the blocks without a query.
      total: async () =>
        validationType === undefined
          ? Math.max(0, Math.min(toHeight, tip) - fromHeight + 1)
          : countRowsByHeight(read, api, chain, 'height', { rows, values }),
      show: (shown) => shown.map(blockAnswer),
    };
  },
});

export const blockRoutes = [list];
