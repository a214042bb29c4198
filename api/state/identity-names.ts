/** Which identity of a chain a caller means. */
import type { ChainConfig } from '../../schemas/config.ts';
import type { ApiContext } from '../api-context.ts';
import { foldAscii } from './currency-directory.ts';
import type { Snapshot } from './snapshot.ts';

const KNOWN_SQL = `SELECT true AS known FROM identities
  WHERE chain = $1 AND identity_address = $2 AND to_height IS NULL`;
const BY_NAME_SQL = `SELECT identity_address FROM identities
  WHERE chain = $1 AND lower(name COLLATE "C") = $2 AND to_height IS NULL LIMIT 2`;

/**
 * `alice@`, `alice.VRSC@`, `sub.alice@` or an i-address, as the daemon reads it. A bare `alice` is first of all a name of the
 * chain itself (`alice.vARRR`); what the daemon would not find is looked for under every parent, and counts when there is one.
 * Null when the chain knows no such identity.
 */
export async function findIdentity(
  read: Snapshot,
  api: ApiContext,
  chain: ChainConfig,
  text: string,
): Promise<string | null> {
  const isBare = !/[.@]/.test(text);
  const names = isBare && chain.rootCurrency !== chain.networkRoot ? [`${text}.${chain.rootCurrency}`, text] : [text];
  for (const name of names) {
    const address = api.domain.nameToAddress(name, chain.networkRoot);
    if (address !== null && (await read.row(KNOWN_SQL, [chain.name, address]))) return address;
  }
  const label = text.endsWith('@') ? text.slice(0, -1) : text;
  if (label === '' || /[.@]/.test(label)) return null;
  const [only, ...others] = await read.rows<{ identity_address: string }>(BY_NAME_SQL, [chain.name, foldAscii(label)]);
  return only && others.length === 0 ? only.identity_address : null;
}
