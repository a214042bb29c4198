/** /api/identity/events: updates of all identities of a chain. */
import { readableJson } from '../../../infra/postgres/json-columns.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS, IDENTITY_CHANGE_KINDS } from '../../../schemas/facts.ts';
import { countRowsByHeight } from '../../http/count-rows.ts';
import { heightCondition } from '../../http/height-range.ts';
import { listRoute } from '../../http/list-route.ts';
import { chainParameter, queryParameter } from '../../http/parameters.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { addressOfIdentity } from './identity-rows.ts';
import { identityEvent } from './schema.ts';

const readEvent = rowReader({
  ...storedColumns(DEFINITIONS.identity, [
    'identityAddress',
    'name',
    'fullyQualifiedName',
    'parent',
    'txIndex',
    'vout',
    'txid',
    'kind',
  ]),
  from_height: columns.number,
  fields: columns.texts,
  time: columns.bigint,
});

/** Names of the changed fields without their values: one value may be as large as a block. */
const FIELDS = `ARRAY(SELECT change->>'field' FROM json_array_elements(${readableJson('i.changes')}) WITH ORDINALITY AS changed(change, place)
  ORDER BY place)`;
const COLUMNS = `i.identity_address, i.name, i.fully_qualified_name, i.parent, i.from_height, i.tx_index, i.vout, i.txid, i.kind,
  ${FIELDS} AS fields, b.time`;

const list = listRoute({
  path: '/api/identity/events',
  summary: 'Updates of all identities of a chain, newest first',
  parameters: {
    chain: chainParameter,
    kind: queryParameter('Only updates of this kind', { type: 'string', enum: IDENTITY_CHANGE_KINDS }),
    parent: queryParameter('Only identities directly below this one: i-address or name', writtenName),
  },
  row: identityEvent,
  reader: readEvent,
  key: [
    { column: 'from_height', sql: 'i.from_height', kind: 'integer', order: 'DESC' },
    { column: 'tx_index', sql: 'i.tx_index', kind: 'integer', order: 'DESC' },
    { column: 'vout', sql: 'i.vout', kind: 'integer', order: 'DESC' },
  ],
  async select({ params, heights, read, api }) {
    const { chain, kind } = params;
    tipHeight(read, chain);
    const parent = params.parent === undefined ? null : await addressOfIdentity(read, api, chain, params.parent);
    const values: unknown[] = [chain];
    const ofKind = kind === undefined ? '' : ` AND i.kind = $${values.push(kind)}`;
    const ofParent = parent === null ? '' : ` AND i.parent = $${values.push(parent)}`;
    const where = `WHERE i.chain = $1${ofKind}${ofParent}${heightCondition(heights, 'i.from_height', values)}`;
    return {
      list: `identity events ${kind ?? ''} ${parent ?? ''}`,
      sql: `SELECT ${COLUMNS} FROM identities i JOIN blocks b ON b.chain = i.chain AND b.height = i.from_height ${where}`,
      values,
      total: () => countRowsByHeight(read, api, chain, 'from_height', { rows: `identities i ${where}`, values }),
      show: (rows) =>
        rows.map((row) => ({
          identityAddress: row.identity_address,
          name: row.name,
          fullyQualifiedName: row.fully_qualified_name,
          parent: row.parent,
          height: row.from_height,
          time: Number(row.time),
          txid: row.txid,
          kind: row.kind,
          fields: row.fields,
        })),
    };
  },
});

export const identityEventRoutes = [list];
