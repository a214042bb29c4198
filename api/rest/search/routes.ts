/** /api/search: searches every chain for a pasted height, hash, address or name. */

import { isTransparentAddress } from '../../../domain/addresses.ts';
import type { BlockRef } from '../../../domain/block-ref.ts';
import { isWrittenHash } from '../../../domain/hashes.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { hexParam } from '../../../infra/postgres/values.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import type { ChainConfig } from '../../../schemas/config.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import type { ApiContext } from '../../api-context.ts';
import { requiredQuery } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { findIdentity } from '../../state/identity-names.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { searchResults } from './explorer-schema.ts';
import { currencyFound, identityFound, type SearchHit } from './found.ts';
import { nearHits } from './near-hits.ts';

type Finder = (read: Snapshot, api: ApiContext, chain: ChainConfig, query: string) => Promise<SearchHit[]>;

const readBlock = rowReader({ height: columns.number, ...storedColumns(DEFINITIONS.block, ['hash']) });
const readHeight = rowReader({ height: columns.number });
const readName = rowReader({ name: columns.text });
const readKnown = rowReader({ known: columns.boolean });

const HEIGHT = /^\d{1,9}$/;

const byHeight: Finder = async (read, _api, { name: chain }, query) => {
  if (!HEIGHT.test(query)) return [];
  const sql = 'SELECT height, hash FROM blocks WHERE chain = $1 AND height = $2';
  const block = await read.row(readBlock, sql, [chain, Number(query)]);
  return block ? [blockFound(chain, block)] : [];
};

const byHash: Finder = async (read, _api, { name: chain }, query) => {
  if (!isWrittenHash(query)) return [];
  const hash = query.toLowerCase();
  const blockSql = 'SELECT height, hash FROM blocks WHERE chain = $1 AND hash = $2';
  const block = await read.row(readBlock, blockSql, [chain, hexParam(hash)]);
  if (block) return [blockFound(chain, block)];
  const transactionSql = 'SELECT height FROM transactions WHERE chain = $1 AND txid = $2';
  const transaction = await read.row(readHeight, transactionSql, [chain, hexParam(hash)]);
  const label = transaction && `Transaction in block ${transaction.height}`;
  return label ? [{ type: 'tx', id: hash, label, chain, url: `/api/tx/${hash}?chain=${chain}` }] : [];
};

function blockFound(chain: string, { height, hash }: BlockRef): SearchHit {
  return { type: 'block', id: hash, label: `Block ${height}`, chain, url: `/api/blocks/${height}?chain=${chain}` };
}

const byAddress: Finder = async (read, _api, { name: chain }, query) => {
  if (!isTransparentAddress(query)) return [];
  const sql = 'SELECT true AS known FROM address_activity WHERE chain = $1 AND address = $2 LIMIT 1';
  if (!(await read.row(readKnown, sql, [chain, query]))) return [];
  return [{ type: 'address', id: query, label: query, chain, url: `/api/address/${query}?chain=${chain}` }];
};

const byIdentity: Finder = async (read, _api, chain, query) => {
  const address = await findIdentity(read, chain, query);
  if (address === null) return [];
  const sql = `SELECT fully_qualified_name AS name FROM identities
    WHERE chain = $1 AND identity_address = $2 AND to_height IS NULL`;
  const identity = await read.row(readName, sql, [chain.name, address]);
  return identity ? [identityFound(chain.name, address, identity.name)] : [];
};

const byCurrency: Finder = async (read, api, chain, query) => {
  if (query.includes('@')) return [];
  const entry = (await api.currencies.of(read)).find(query, chain);
  return entry?.chain === chain.name ? [currencyFound(entry)] : [];
};

const FINDERS = [byHeight, byHash, byAddress, byIdentity, byCurrency];

const search = stateRoute({
  path: '/api/search/',
  summary: 'Blocks, transactions, addresses, identities and currencies by height, hash, address or name',
  parameters: { q: requiredQuery('What to look for', { type: 'string', pattern: '\\S', maxLength: 80 }) },
  response: searchResults,
  weight: 1,
  cache: 'prepared',
  scope: 'all',
  async handler({ params, read, api }) {
    const query = params.q.trim();
    const results: SearchHit[] = [];
    for (const chain of api.config.chains) {
      for (const find of FINDERS) results.push(...(await find(read, api, chain, query)));
    }
    return { query: params.q, results, near: results.length > 0 ? [] : await nearHits(read, api, query) };
  },
});

export const searchRoutes = [search];
