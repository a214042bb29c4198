/** /api/reorgs: removed blocks, and the blocks that replaced them. */
import { columns, jsonReader, rowReader } from '../../../infra/row-reader.ts';
import { countRows } from '../../http/count-rows.ts';
import { heightCondition } from '../../http/height-range.ts';
import { listRoute } from '../../http/list-route.ts';
import { chainParameter } from '../../http/parameters.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { blocksAfterRewind, REORG, REORG_COLUMNS, reorgAnswer } from './reorg-rows.ts';
import { reorgRow } from './schema.ts';

/** JSON text, lowest block first; null when the branch has no blocks. */
const branch = columns.nullable(columns.text);
const readReorg = rowReader({ ...REORG, position: columns.number, removed: branch, replaced_by: branch });

const PLACE = { height: columns.number, hash: columns.text, time: columns.number };
const readRemoved = jsonReader(columns.list(columns.object(PLACE)));
const readAdded = jsonReader(columns.list(columns.object({ ...PLACE, canonical: columns.boolean })));

/** Most blocks to show of each branch. A deeper reorganisation needs an operator. */
const SHOWN = 100;

const place = "'height', height, 'hash', encode(hash, 'hex'), 'time', time";
const upTo = `least(r.from_height, r.height + ${SHOWN})`;
/** The position fits in an integer because a chain has fewer than 2^31 records. */
const SQL = `SELECT r.position::integer AS position, ${REORG_COLUMNS},
    (SELECT json_agg(json_build_object(${place}) ORDER BY height) FROM removed_blocks
      WHERE chain = r.chain AND removed_at = r.position AND height <= ${upTo}) AS removed,
    (SELECT json_agg(json_build_object(${place}, 'canonical', canonical) ORDER BY height)
      FROM (${blocksAfterRewind(upTo)}) AS added) AS replaced_by
  FROM reorgs r WHERE r.chain = $1`;

const list = listRoute({
  path: '/api/reorgs/',
  summary: 'Reorganisations of a chain with both branches, highest fork first',
  parameters: { chain: chainParameter },
  row: reorgRow,
  reader: readReorg,
  key: [
    { column: 'fork_height', sql: 'r.height', kind: 'integer', order: 'DESC' },
    { column: 'position', sql: 'r.position', kind: 'integer', order: 'DESC' },
  ],
  async select({ params: { chain }, heights, read, api }) {
    tipHeight(read, chain);
    const values: unknown[] = [chain];
    const within = heightCondition(heights, 'r.height', values);
    return {
      list: 'reorgs',
      sql: SQL + within,
      values,
      total: () => countRows(read, api, chain, { rows: `reorgs r WHERE r.chain = $1${within}`, values }),
      show: (rows) =>
        rows.map((row) => ({
          chain,
          ...reorgAnswer(row, api.chain(chain)),
          removed: readRemoved(row.removed ?? '[]'),
          replacedBy: readAdded(row.replaced_by ?? '[]'),
        })),
    };
  },
});

export const reorgRoutes = [list];
