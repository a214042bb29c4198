/** /api/identity: list and detail. */

import { IDENTITY_FLAGS } from '../../../domain/flags.ts';
import { IDENTITY_STATUSES, identityStatus } from '../../../domain/identity-status.ts';
import { parseShallow } from '../../../domain/json/shallow-json.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import type { StoredRow } from '../../../infra/row-reader.ts';
import { columns, jsonReader, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import { listRoute } from '../../http/list-route.ts';
import { chainParameter, pathParameter, queryParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coins } from '../../http/values.ts';
import { askedMempool, mempoolTag, unconfirmedParameter } from '../../mempool/unconfirmed-part.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { atHeightParameter, knownHeight } from '../../state/block-at.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { blocksToUnlock, friendlyName, IDENTITY, identityAtBy, stateAtSql } from './identity-rows.ts';
import { contentOf, keyParameter, withKey } from './multimap-content.ts';
import { identityDetail, identityRow } from './schema.ts';
import { identityRows } from './status-rows.ts';
import { waitingUpdates } from './waiting-updates.ts';

export const identityParameter = pathParameter('i-address, alice@, alice.VRSC@ or sub.alice@', writtenName);

const LISTED = {
  ...storedColumns(DEFINITIONS.identity, [
    'identityAddress',
    'name',
    'parent',
    'fullyQualifiedName',
    'flags',
    'timelock',
    'registeredHeight',
  ]),
  from_height: columns.number,
};
const readListed = rowReader(LISTED);

const list = listRoute({
  path: '/api/identity/',
  summary: 'Identities of a chain, newest registration first',
  parameters: {
    chain: chainParameter,
    status: queryParameter('Only identities that have this status now', { type: 'string', enum: IDENTITY_STATUSES }),
  },
  row: identityRow,
  reader: readListed,
  key: [
    { column: 'registered_height', sql: 'registered_height', kind: 'integer', order: 'DESC' },
    { column: 'identity_address', sql: 'identity_address', kind: 'text', order: 'DESC' },
  ],
  async select({ params: { chain, status }, heights, read, api }) {
    const tip = tipHeight(read, chain);
    const currencies = await api.currencies.of(read);
    const { rows, values, count } = identityRows(read, api, { chain, tip, status, heights });
    return {
      list: `identities ${status ?? ''}`,
      sql: `SELECT ${Object.keys(LISTED).join(', ')} FROM ${rows}`,
      values,
      total: count,
      show: (shown) =>
        shown.map((row) => ({
          identityAddress: row.identity_address,
          name: row.name,
          fullyQualifiedName: row.fully_qualified_name,
          parent: row.parent,
          parentName: currencies.name(row.parent),
          chain,
          flags: row.flags,
          status: identityStatus(row.flags, row.timelock, tip),
          height: row.from_height,
          registeredAt: row.registered_height,
        })),
    };
  },
});

/** The state with the identity's first update, the number of identities below it at height $3, and its referral's current name. */
const DETAIL_SQL = stateAtSql(
  `, first.txid AS first_txid, first.from_height AS first_height, first_block.time AS first_time, first.registration,
    (SELECT count(*) FROM identities WHERE chain = $1 AND parent = i.identity_address AND to_height IS NULL
      AND registered_height <= $3) AS sub_ids,
    (SELECT fully_qualified_name FROM identities WHERE chain = $1 AND identity_address = i.referral
      ORDER BY from_height DESC, tx_index DESC, vout DESC LIMIT 1) AS referral_name`,
  `
  CROSS JOIN LATERAL (SELECT txid, from_height, registration FROM identities
    WHERE chain = $1 AND identity_address = i.identity_address ORDER BY from_height, tx_index, vout LIMIT 1) AS first
  JOIN blocks first_block ON first_block.chain = $1 AND first_block.height = first.from_height`,
);

const readWhole = rowReader({
  ...IDENTITY,
  first_txid: columns.text,
  first_height: columns.number,
  first_time: columns.bigint,
  ...storedColumns(DEFINITIONS.identity, ['registration']),
  sub_ids: columns.bigint,
  referral_name: columns.nullable(columns.text),
});

/** Members of the daemon's identity object that the answer copies. */
const readState = rowReader({
  name: columns.text,
  parent: columns.text,
  identityaddress: columns.text,
  primaryaddresses: columns.texts,
  minimumsignatures: columns.number,
  revocationauthority: columns.text,
  recoveryauthority: columns.text,
  flags: columns.number,
  timelock: columns.number,
});

const readRegistration = jsonReader(
  columns.object({ commitmentTxid: columns.nullable(columns.text), cost: columns.record(columns.text) }),
);

function registrationDetail(registration: string | null, currencies: Currencies) {
  if (registration === null) return { commitmentTxid: null, cost: [] };
  const { commitmentTxid, cost } = readRegistration(registration);
  const amounts = Object.entries(cost).map(([currencyId, amount]) => {
    return { currencyId, currencyName: currencies.name(currencyId), amount: coins(BigInt(amount)) };
  });
  return { commitmentTxid, cost: amounts };
}

const detail = stateRoute({
  path: '/api/identity/:nameOrId',
  summary: 'An identity, now or at a height',
  parameters: {
    nameOrId: identityParameter,
    chain: chainParameter,
    height: atHeightParameter,
    key: keyParameter,
    unconfirmed: unconfirmedParameter,
  },
  response: identityDetail,
  weight: 2,
  cache: 'state',
  scope: 'chain',
  extraTag: mempoolTag,
  async handler({ params, read, api }) {
    const { chain } = params;
    const journal = askedMempool({ params, api });
    const height = knownHeight(read, chain, params.height);
    const row = await identityAtBy(readWhole, DETAIL_SQL, read, api, chain, params.nameOrId, height);
    const currencies = await api.currencies.of(read);
    const status = identityStatus(row.flags, row.timelock, height);
    const state = parseShallow(row.state) as StoredRow;
    return {
      contentmap: {},
      ...readState(state),
      contentmultimap: withKey(contentOf(state), params.key, api, chain),
      chain,
      fullyQualifiedName: row.fully_qualified_name,
      friendlyName: friendlyName(row.fully_qualified_name, api.chain(chain).networkRoot),
      parentName: currencies.name(row.parent),
      status,
      unlockHeight: status === 'unlocking' ? Number(row.timelock) : null,
      lastUpdate: { txid: row.txid, height: row.from_height, time: Number(row.time) },
      registration: {
        txid: row.first_txid,
        height: row.first_height,
        time: Number(row.first_time),
        referral: row.referral,
        referralName: row.referral_name,
        ...registrationDetail(row.registration, currencies),
      },
      isCurrency: (row.flags & IDENTITY_FLAGS.ACTIVE_CURRENCY) !== 0,
      isTokenControlled: (row.flags & IDENTITY_FLAGS.TOKEN_CONTROLLED) !== 0,
      blocksToUnlock: blocksToUnlock(status, row.timelock, height),
      subIdCount: Number(row.sub_ids),
      ...(journal && { unconfirmed: await waitingUpdates(journal, row.identity_address, read, chain) }),
    };
  },
});

export const identityRoutes = [list, detail];
