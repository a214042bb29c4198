/** Waiting transactions that the snapshot of an answer has in no block: the mempool may have been looked at before the snapshot. */

import { hexParam } from '../../infra/postgres/values.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { WaitingTransaction } from './journal.ts';

const readMined = rowReader({ txid: columns.text });
const MINED_SQL = 'SELECT txid FROM transactions WHERE chain = $1 AND txid = ANY($2::bytea[])';

/**
 * To be called with what waits at this very moment, which was looked at no later than the snapshot. The statement is made in any case:
 * where the state has moved on meanwhile, it begins the answer again.
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
