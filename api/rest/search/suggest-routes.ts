/** /api/search/suggest: names that begin with the text typed so far. */
import { foldCase } from '../../../domain/names.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import { anyChainParameter, requiredQuery } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { suggestions } from './explorer-schema.ts';
import { currencyFound, identityFound, type SearchHit } from './found.ts';

const SHOWN = 10;
/** Most names with the same label to search for the typed parents. */
const SAME_LABEL = 1000;

/** Identities of the chains $1 whose label begins with $2, in alphabetical order; up to $3 of each. */
const BY_LABEL_SQL = `SELECT found.* FROM unnest($1::text[]) AS searched(chain)
  CROSS JOIN LATERAL (SELECT chain, identity_address AS address, fully_qualified_name AS name FROM identities
    WHERE chain = searched.chain AND to_height IS NULL
      AND lower(name COLLATE "C") >= $2 AND lower(name COLLATE "C") < $2 || chr(1114111)
    ORDER BY lower(name COLLATE "C"), lower(fully_qualified_name COLLATE "C"), identity_address LIMIT $3) AS found`;
/** Identities whose label is $2 and whose whole name begins with $4. */
const BY_PARENTS_SQL = `SELECT found.* FROM unnest($1::text[]) AS searched(chain)
  CROSS JOIN LATERAL (SELECT chain, address, name
    FROM (SELECT chain, identity_address AS address, fully_qualified_name AS name FROM identities
      WHERE chain = searched.chain AND to_height IS NULL AND lower(name COLLATE "C") = $2 LIMIT ${SAME_LABEL}) AS same
    WHERE starts_with(lower(name COLLATE "C"), $4) ORDER BY lower(name COLLATE "C"), address LIMIT $3) AS found`;

const readNamed = rowReader({ chain: columns.text, address: columns.text, name: columns.text });

function identitiesLike(read: Snapshot, chains: readonly string[], text: string) {
  const end = text.indexOf('.');
  if (end < 0) return read.rows(readNamed, BY_LABEL_SQL, [chains, text, SHOWN]);
  return read.rows(readNamed, BY_PARENTS_SQL, [chains, text.slice(0, end), SHOWN, text]);
}

function currenciesLike(currencies: Currencies, chains: readonly string[], text: string): SearchHit[] {
  const like = [...currencies.all()].filter(
    ({ chain, fullyQualifiedName }) => chains.includes(chain) && foldCase(fullyQualifiedName).startsWith(text),
  );
  return like.map(currencyFound);
}

const suggest = stateRoute({
  path: '/api/search/suggest',
  summary: 'Up to 10 currencies and identities whose names begin with a text, in alphabetical order',
  parameters: {
    q: requiredQuery('Beginning of the name; A–Z equals a–z, a final @ is ignored', {
      type: 'string',
      pattern: '\\S',
      maxLength: 80,
    }),
    chain: anyChainParameter,
  },
  response: suggestions,
  weight: 1,
  cache: 'state',
  scope: 'all',
  async handler({ params, read, api }) {
    const text = foldCase(params.q.trim().replace(/@$/, ''));
    if (text === '') return { query: params.q, results: [] };
    const chains = params.chain === undefined ? api.config.chains.map(({ name }) => name) : [params.chain];
    const currencies = currenciesLike(await api.currencies.of(read), chains, text);
    const known = new Set(currencies.map(({ id, chain }) => `${id} ${chain}`));
    const identities = (await identitiesLike(read, chains, text))
      .map(({ chain, address, name }) => identityFound(chain, address, name))
      .filter(({ id, chain }) => !known.has(`${id} ${chain}`));
    const results = [...currencies, ...identities]
      .sort((a, b) => (foldCase(a.label) < foldCase(b.label) ? -1 : 1))
      .slice(0, SHOWN);
    return { query: params.q, results };
  },
});

export const suggestRoutes = [suggest];
