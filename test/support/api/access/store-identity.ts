/** An identity as the index would hold it, for tests that need no chain. */

import type { KeyOwner } from '../../../../api/access/key-store.ts';
import type { Postgres } from '../../../../infra/postgres/postgres.ts';

/** Replaces the state that is stored. */
export async function storeIdentity(
  { pool }: Postgres,
  { chain, identityAddress, flags }: KeyOwner & { readonly flags: number },
): Promise<void> {
  await pool.query('DELETE FROM identities WHERE chain = $1 AND identity_address = $2', [chain, identityAddress]);
  await pool.query(
    `INSERT INTO identities (chain, identity_address, from_height, tx_index, vout, txid, name, parent, fully_qualified_name,
       kind, flags, timelock, revocation_authority, recovery_authority, primary_addresses, minimum_signatures,
       registered_height, changes, state, position)
     VALUES ($1, $2, 1, 1, 0, '\\x00', 'made', '', 'made.TEST', 'registration', $3, 0, $2, $2, '{}', 1, 1, '[]', '{}', 1)`,
    [chain, identityAddress, flags],
  );
}
