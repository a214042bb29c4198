/** Suggests currencies and identities with similar names when a text matches no name. */
import { foldCase } from '../../../domain/names.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import type { ApiContext } from '../../api-context.ts';
import { nearest } from '../../state/near-names.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { currencyFound, identityFound, type SearchHit } from './found.ts';

/** Most identities of a chain to compare with the text. */
const MOST_COMPARED = 1000;
const LEAST_LETTERS = 2;

/** Identities of the chains $1 whose label begins with $2; up to $3 of each. */
const BY_BEGINNING_SQL = `SELECT found.* FROM unnest($1::text[]) AS searched(chain)
  CROSS JOIN LATERAL (SELECT chain, identity_address AS address, name AS label, fully_qualified_name AS name FROM identities
    WHERE chain = searched.chain AND to_height IS NULL
      AND lower(name COLLATE "C") >= $2 AND lower(name COLLATE "C") < $2 || chr(1114111)
    ORDER BY lower(name COLLATE "C"), identity_address LIMIT $3) AS found`;
const readNamed = rowReader({ chain: columns.text, address: columns.text, label: columns.text, name: columns.text });

interface Named {
  readonly hit: SearchHit;
  readonly names: readonly [string, ...string[]];
}

/** Compares all currencies, but only identities whose label begins with the first half of the text: comparing all would take too long. */
export async function nearHits(read: Snapshot, api: ApiContext, query: string): Promise<SearchHit[]> {
  const text = foldCase(query.replace(/@$/, ''));
  const letters = [...(text.split('.')[0] ?? '')];
  if (letters.length < LEAST_LETTERS) return [];
  const beginning = letters.slice(0, Math.max(LEAST_LETTERS, Math.ceil(letters.length / 2))).join('');
  const chains = api.config.chains.map(({ name }) => name);
  const currencies = [...(await api.currencies.of(read)).all()].map(
    (currency): Named => ({ hit: currencyFound(currency), names: [currency.fullyQualifiedName, currency.name] }),
  );
  const known = new Set(currencies.map(({ hit: { id, chain } }) => `${id} ${chain}`));
  const rows = await read.rows(readNamed, BY_BEGINNING_SQL, [chains, beginning, MOST_COMPARED]);
  const identities = rows
    .filter(({ address, chain }) => !known.has(`${address} ${chain}`))
    .map(
      ({ chain, address, label, name }): Named => ({ hit: identityFound(chain, address, name), names: [name, label] }),
    );
  return nearest(text, [...currencies, ...identities], ({ names }) => names).map(({ hit }) => hit);
}
