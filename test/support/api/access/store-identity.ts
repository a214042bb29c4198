/** Stores an identity as the indexer would, for tests without a chain. */

import type { KeyOwner } from '../../../../api/access/key-store.ts';
import type { Postgres } from '../../../../infra/postgres/postgres.ts';

export interface FlagsFrom {
  readonly fromHeight: number;
  readonly flags: number;
}

/** Replaces the stored state. */
export async function storeIdentity(
  postgres: Postgres,
  { flags, ...owner }: KeyOwner & { readonly flags: number },
): Promise<void> {
  await storeStates(postgres, owner, [{ fromHeight: 1, flags }]);
}

/** Replaces all stored states with these, in their order. */
export async function storeStates(
  { pool }: Postgres,
  { chain, identityAddress }: KeyOwner,
  states: readonly FlagsFrom[],
): Promise<void> {
  await pool.query('DELETE FROM identities WHERE chain = $1 AND identity_address = $2', [chain, identityAddress]);
  for (const [index, { fromHeight, flags }] of states.entries()) {
    await pool.query(
      `INSERT INTO identities (chain, identity_address, from_height, to_height, tx_index, vout, txid, name, parent,
         fully_qualified_name, kind, flags, timelock, revocation_authority, recovery_authority, primary_addresses,
         minimum_signatures, registered_height, changes, state, position)
       VALUES ($1, $2, $4::integer, $5, 1, 0, '\\x00', 'made', '', 'made.TEST', 'registration', $3, 0, $2, $2, '{}', 1, 1, '[]', '{}', $4::integer)`,
      [chain, identityAddress, flags, fromHeight, states[index + 1]?.fromHeight ?? null],
    );
  }
}
