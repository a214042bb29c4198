/** Identities with more updates than the recording has. The next block makes them known to an API that has cached answers. */
import type { Pool } from 'pg';
import { ALICE, CHAIN } from './running-service.ts';

/** Height of the first made update; ten are in a block. */
export const FIRST = 300;

/** Rows like the first of alice@; `$1` is an address, `$2` the number of the first and `$3` of the last. */
export const copies = (members: string) => `INSERT INTO identities SELECT made.*
  FROM (SELECT * FROM identities WHERE chain = '${CHAIN}' AND identity_address = '${ALICE}' ORDER BY from_height LIMIT 1) i,
    generate_series($2::int, $3::int) at, jsonb_populate_record(NULL::identities, to_jsonb(i) || jsonb_build_object(${members})) made`;

const UPDATES =
  copies(`'identity_address', $1::text, 'from_height', ${FIRST} + at / 10, 'tx_index', at, 'txid', '\\x' || lpad(to_hex(at), 64, '0'), 'to_height', null,
  'referral', null, 'parent', 'nobody', 'content_hashes', null`);

/** Inserts the updates from one number to another. */
export async function insertUpdates(pool: Pool, address: string, first: number, last: number): Promise<void> {
  await pool.query(UPDATES, [address, first, last]);
}
