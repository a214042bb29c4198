/** Resolves names and addresses to identities of a chain. */

import { isIdentityAddress } from '../../domain/addresses.ts';
import { foldCase } from '../../domain/names.ts';
import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';
import { nameAddress } from './name-address.ts';
import type { Snapshot } from './snapshot.ts';

type Rows = Pick<Snapshot, 'rows' | 'row'>;

/** First of the addresses $2 that is an identity of the chain $1. Identities are never removed, only revoked. */
export const FIRST_KNOWN_SQL = `SELECT wanted.address AS identity_address
  FROM unnest($2::text[]) WITH ORDINALITY AS wanted(address, place)
  CROSS JOIN LATERAL (SELECT FROM identities WHERE chain = $1 AND identity_address = wanted.address LIMIT 1) AS known
  ORDER BY wanted.place LIMIT 1`;
const BY_NAME_SQL = `SELECT identity_address FROM identities
  WHERE chain = $1 AND lower(name COLLATE "C") = $2 AND to_height IS NULL LIMIT 2`;
const readAddress = rowReader(storedColumns(DEFINITIONS.identity, ['identityAddress']));

/**
 * Returns the addresses that `alice@`, `alice.VRSC@`, `sub.alice@` or an i-address may mean, in the daemon's reading. A bare `alice` means first a
 * name of the chain itself (`alice.vARRR`).
 */
export function possibleAddresses(chain: ChainConfig, text: string): string[] {
  const isBare = !/[.@]/.test(text);
  const names = isBare && chain.rootCurrency !== chain.networkRoot ? [`${text}.${chain.rootCurrency}`, text] : [text];
  return names.map((name) => nameAddress(name, chain.networkRoot)).filter((address) => address !== null);
}

/** Looks up a name that the daemon would not find under every parent, and accepts it if exactly one identity matches. */
async function addressUnderAnyParent(read: Rows, chain: string, text: string): Promise<string | null> {
  const label = text.endsWith('@') ? text.slice(0, -1) : text;
  if (label === '' || /[.@]/.test(label)) return null;
  const [only, ...others] = await read.rows(readAddress, BY_NAME_SQL, [chain, foldCase(label)]);
  return only && others.length === 0 ? only.identity_address : null;
}

/** Returns null when the chain has no such identity. */
export async function findIdentity(read: Rows, chain: ChainConfig, text: string): Promise<string | null> {
  const addresses = possibleAddresses(chain, text);
  const known = addresses.length > 0 && (await read.row(readAddress, FIRST_KNOWN_SQL, [chain.name, addresses]));
  return known ? known.identity_address : addressUnderAnyParent(read, chain.name, text);
}

/** Names of the addresses $2, each from the first of the chains $1 that has it as an identity. A name never changes. */
const NAMES_SQL = `SELECT wanted.address, known.chain, known.name FROM unnest($2::text[]) AS wanted(address)
  CROSS JOIN LATERAL (SELECT searched.chain, i.fully_qualified_name AS name
    FROM unnest($1::text[]) WITH ORDINALITY AS searched(chain, place)
    CROSS JOIN LATERAL (SELECT fully_qualified_name FROM identities
      WHERE chain = searched.chain AND identity_address = wanted.address
      ORDER BY from_height DESC, tx_index DESC, vout DESC LIMIT 1) AS i
    ORDER BY searched.place LIMIT 1) AS known`;

const readName = rowReader({ address: columns.text, chain: columns.text, name: columns.text });
/** `name` is qualified, without the final @. */
export type IdentityName = RowRead<typeof readName>;

/** Returns the names of those addresses that are identities, by address. */
export async function identityNames(
  read: Snapshot,
  chains: readonly string[],
  addresses: readonly string[],
): Promise<ReadonlyMap<string, IdentityName>> {
  const wanted = [...new Set(addresses)].filter(isIdentityAddress);
  if (wanted.length === 0) return new Map();
  const rows = await read.rows(readName, NAMES_SQL, [chains, wanted]);
  return new Map(rows.map((row) => [row.address, row]));
}
