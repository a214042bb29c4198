/** Filters out waiting transactions that the snapshot already has in a block: the mempool may have been read before the snapshot. */

import { hexParam } from '../../infra/postgres/values.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { WaitingTransaction } from './journal.ts';

const readMined = rowReader({ txid: columns.text });
const MINED_SQL = 'SELECT txid FROM transactions WHERE chain = $1 AND txid = ANY($2::bytea[])';

/**
 * Call it with the transactions that wait at this moment; they were read no later than the snapshot. The statement runs even for an
 * empty list: if the state has moved on since the snapshot, the statement makes the answer start over.
 */
export async function standingOf(
  read: Snapshot,
  chain: string,
  waiting: readonly WaitingTransaction[],
): Promise<WaitingTransaction[]> {
  const asked = waiting.map(({ transaction }) => hexParam(transaction.txid));
  const rows = await read.rows(readMined, MINED_SQL, [chain, asked]);
  const mined = new Set(rows.map(({ txid }) => txid));
  return waiting.filter(({ transaction }) => !mined.has(transaction.txid));
}
