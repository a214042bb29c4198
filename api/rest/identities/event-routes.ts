/** /api/identity/events: what happened to the identities of a chain. */
import { IDENTITY_CHANGE_KINDS, type IdentityChangeKind } from '../../../schemas/facts.ts';
import { countRowsByHeight } from '../../http/count-rows.ts';
import { pageParameters, readPage } from '../../http/paging.ts';
import { chainParameter, queryParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { tipHeight } from '../blocks/routes.ts';
import { addressOfIdentity } from './identity-rows.ts';
import { identityEvents } from './schema.ts';

interface EventRecord {
  readonly identity_address: string;
  readonly name: string;
  readonly fully_qualified_name: string;
  readonly parent: string;
  readonly from_height: number;
  readonly tx_index: number;
  readonly vout: number;
  readonly txid: string;
  readonly kind: IdentityChangeKind;
  readonly fields: readonly string[];
  readonly time: bigint;
}

/** Not the values, of which one may be as large as a block. */
const FIELDS = `ARRAY(SELECT change->>'field' FROM json_array_elements(i.changes) WITH ORDINALITY AS changed(change, place)
  ORDER BY place)`;
const COLUMNS = `i.identity_address, i.name, i.fully_qualified_name, i.parent, i.from_height, i.tx_index, i.vout, i.txid, i.kind,
  ${FIELDS} AS fields, b.time`;

const list = stateRoute({
  path: '/api/identity/events',
  summary: 'Updates of all identities of a chain, newest first',
  parameters: {
    chain: chainParameter,
    kind: queryParameter('Only updates of this kind', { type: 'string', enum: IDENTITY_CHANGE_KINDS }),
    parent: queryParameter('Only identities right below this one: i-address or name', writtenName),
    ...pageParameters,
  },
  response: identityEvents,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain, kind } = params;
    tipHeight(read, chain);
    const parent = params.parent === undefined ? null : await addressOfIdentity(read, api, chain, params.parent);
    const values: unknown[] = [chain];
    const ofKind = kind === undefined ? '' : ` AND i.kind = $${values.push(kind)}`;
    const ofParent = parent === null ? '' : ` AND i.parent = $${values.push(parent)}`;
    const where = `WHERE i.chain = $1${ofKind}${ofParent}`;
    return readPage<EventRecord>(read, params, {
      list: `identity events ${kind ?? ''} ${parent ?? ''}`,
      chain,
      sql: `SELECT ${COLUMNS} FROM identities i JOIN blocks b ON b.chain = i.chain AND b.height = i.from_height ${where}`,
      values,
      key: [
        { column: 'from_height', sql: 'i.from_height', kind: 'integer', order: 'DESC' },
        { column: 'tx_index', sql: 'i.tx_index', kind: 'integer', order: 'DESC' },
        { column: 'vout', sql: 'i.vout', kind: 'integer', order: 'DESC' },
      ],
      total: () => countRowsByHeight(read, api, chain, 'from_height', { rows: `identities i ${where}`, values }),
      row: (row) => ({
        identityAddress: row.identity_address,
        name: row.name,
        fullyQualifiedName: row.fully_qualified_name,
        parent: row.parent,
        height: row.from_height,
        time: Number(row.time),
        txid: row.txid,
        kind: row.kind,
        fields: row.fields,
      }),
    });
  },
});

export const identityEventRoutes = [list];
