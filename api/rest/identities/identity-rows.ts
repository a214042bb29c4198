/** Stored rows of identities, and values derived from them at a height. */

import type { IdentityStatus } from '../../../domain/identity-status.ts';
import { foldCase } from '../../../domain/names.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, type RowRead, type RowReader, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import type { ApiContext } from '../../api-context.ts';
import { notFound } from '../../http/api-error.ts';
import { countRowsByHeight } from '../../http/count-rows.ts';
import { FIRST_KNOWN_SQL, findIdentity, possibleAddresses } from '../../state/identity-names.ts';
import type { Snapshot } from '../../state/snapshot.ts';

export const IDENTITY = {
  ...storedColumns(DEFINITIONS.identity, [
    'identityAddress',
    'name',
    'parent',
    'fullyQualifiedName',
    'txid',
    'flags',
    'timelock',
    'registeredHeight',
    'referral',
    'state',
  ]),
  from_height: columns.number,
  /** Time of the block of this state. */
  ...storedColumns(DEFINITIONS.block, ['time']),
};
const readIdentity = rowReader(IDENTITY);
export type IdentityRecord = RowRead<typeof readIdentity>;

const COLUMNS = `i.identity_address, i.name, i.parent, i.fully_qualified_name, i.from_height, i.txid, i.flags, i.timelock,
  i.registered_height, i.referral, i.state`;

/** SQL for the last state, at height $3 or before, of an identity of the chain $1. */
interface StateAtSql {
  /** State of the address $2. */
  readonly ofAddress: string;
  /** State of the first of the addresses $2 that is an identity. */
  readonly ofFirst: string;
}

export function stateAtSql(furtherColumns = '', furtherJoins = ''): StateAtSql {
  const of = (known: string) => `SELECT ${COLUMNS}, b.time${furtherColumns}
    FROM (${known}) AS known
    CROSS JOIN LATERAL (SELECT * FROM identities WHERE chain = $1 AND identity_address = known.identity_address
      AND from_height <= $3 ORDER BY from_height DESC, tx_index DESC, vout DESC LIMIT 1) AS i
    JOIN blocks b ON b.chain = i.chain AND b.height = i.from_height${furtherJoins}`;
  return { ofAddress: of('SELECT $2::text AS identity_address'), ofFirst: of(FIRST_KNOWN_SQL) };
}
const STATE_AT_SQL = stateAtSql();

/** Resolves a name or i-address to an i-address. @throws ApiError not_found when the chain does not know the identity */
export async function addressOfIdentity(
  read: Snapshot,
  api: ApiContext,
  chain: string,
  nameOrId: string,
): Promise<string> {
  const address = await findIdentity(read, api.chain(chain), nameOrId);
  if (address === null) throw notFound(`identity ${JSON.stringify(nameOrId)} of ${chain}`);
  return address;
}

/**
 * Returns the last state of an identity at or before a height, with the columns of `sql`.
 * @throws ApiError not_found before the registration, and when the chain does not know the identity
 */
export async function identityAtBy<Row extends IdentityRecord>(
  reader: RowReader<Row>,
  sql: StateAtSql,
  read: Snapshot,
  api: ApiContext,
  chain: string,
  nameOrId: string,
  height: number,
): Promise<Row> {
  const stateOfFirst = async ([first, ...others]: readonly string[]) => {
    if (first === undefined) return undefined;
    if (others.length === 0) return read.row(reader, sql.ofAddress, [chain, first, height]);
    return read.row(reader, sql.ofFirst, [chain, [first, ...others], height]);
  };
  const addresses = possibleAddresses(api.chain(chain), nameOrId);
  const row = await stateOfFirst(addresses);
  if (row) return row;
  const address = await addressOfIdentity(read, api, chain, nameOrId);
  const elsewhere = addresses.includes(address) ? undefined : await stateOfFirst([address]);
  if (!elsewhere) throw notFound(`identity ${JSON.stringify(nameOrId)} of ${chain} at height ${height}`);
  return elsewhere;
}

export function identityAt(
  read: Snapshot,
  api: ApiContext,
  chain: string,
  nameOrId: string,
  height: number,
): Promise<IdentityRecord> {
  return identityAtBy(readIdentity, STATE_AT_SQL, read, api, chain, nameOrId, height);
}

const CHILD = {
  ...storedColumns(DEFINITIONS.identity, [
    'identityAddress',
    'name',
    'fullyQualifiedName',
    'txid',
    'flags',
    'registeredHeight',
  ]),
  from_height: columns.number,
};
const readChild = rowReader(CHILD);

const CHILDREN_SQL = `SELECT ${Object.keys(CHILD).join(', ')}
  FROM identities WHERE chain = $1 AND parent = $2 AND to_height IS NULL
  ORDER BY registered_height, identity_address LIMIT $3 OFFSET $4`;
const CHILD_ROWS = 'identities WHERE chain = $1 AND parent = $2 AND to_height IS NULL';

/** Identities directly below `parent` in their current state, oldest registration first. */
export function readChildren(
  read: Snapshot,
  chain: string,
  parent: string,
  place: { readonly limit: number; readonly offset: number },
): Promise<RowRead<typeof readChild>[]> {
  return read.rows(readChild, CHILDREN_SQL, [chain, parent, place.limit, place.offset]);
}

export function countChildren(read: Snapshot, api: ApiContext, chain: string, parent: string): Promise<number> {
  return countRowsByHeight(read, api, chain, 'registered_height', { rows: CHILD_ROWS, values: [chain, parent] });
}

/** Blocks from `height` until the identity is unlocked: for `locked` the delay that an unlock starts, for `unlocking` the rest of it. */
export function blocksToUnlock(status: IdentityStatus, timelock: bigint, height: number): number | null {
  if (status === 'locked') return Number(timelock);
  return status === 'unlocking' ? Number(timelock) - height : null;
}

/** Returns `alice.VRSC@` for a name directly below the root, and `sub.alice@`, without the root, for deeper names. */
export function friendlyName(fullyQualifiedName: string, networkRoot: string): string {
  const suffix = `.${networkRoot}`;
  if (!foldCase(fullyQualifiedName).endsWith(foldCase(suffix))) return `${fullyQualifiedName}@`;
  const bare = fullyQualifiedName.slice(0, -suffix.length);
  return bare.includes('.') ? `${bare}@` : `${fullyQualifiedName}@`;
}
