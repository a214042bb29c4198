/** /api/reorgs: what left the chain, and what took its place. */
import { countRows } from '../../http/count-rows.ts';
import { pageParameters, readPage } from '../../http/paging.ts';
import { chainParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { blocksAfterRewind, REORG_COLUMNS, type ReorgRecord, reorgAnswer } from './reorg-rows.ts';
import { tipHeight } from './routes.ts';
import { reorgList } from './schema.ts';

interface ListedReorg extends ReorgRecord {
  /** JSON texts, lowest block first; null where there are none. */
  readonly removed: string | null;
  readonly replaced_by: string | null;
}

/** Blocks of each branch that are shown. A deeper reorganisation needs an operator. */
const SHOWN = 100;

const place = "'height', height, 'hash', encode(hash, 'hex'), 'time', time";
const upTo = `least(r.from_height, r.height + ${SHOWN})`;
/** The position fits in an integer: a chain has fewer records than that. */
const SQL = `SELECT r.position::integer AS position, ${REORG_COLUMNS},
    (SELECT json_agg(json_build_object(${place}) ORDER BY height) FROM removed_blocks
      WHERE chain = r.chain AND removed_at = r.position AND height <= ${upTo}) AS removed,
    (SELECT json_agg(json_build_object(${place}, 'canonical', canonical) ORDER BY height)
      FROM (${blocksAfterRewind(upTo)}) AS added) AS replaced_by
  FROM reorgs r WHERE r.chain = $1`;

const list = stateRoute({
  path: '/api/reorgs/',
  summary: 'Reorganisations of a chain with both branches, highest fork first',
  parameters: { chain: chainParameter, ...pageParameters },
  response: reorgList,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain } = params;
    tipHeight(read, chain);
    const values = [chain];
    return readPage<ListedReorg>(read, params, {
      list: 'reorgs',
      chain,
      sql: SQL,
      values,
      key: [
        { column: 'fork_height', sql: 'r.height', kind: 'integer', order: 'DESC' },
        { column: 'position', sql: 'r.position', kind: 'integer', order: 'DESC' },
      ],
      total: () => countRows(read, api, chain, { rows: 'reorgs WHERE chain = $1', values }),
      row: (row) => ({
        chain,
        ...reorgAnswer(row, api.chain(chain)),
        removed: JSON.parse(row.removed ?? '[]'),
        replacedBy: JSON.parse(row.replaced_by ?? '[]'),
      }),
    });
  },
});

export const reorgRoutes = [list];
