/** What each transaction did to an address. */
import type { TransactionType } from '../../../schemas/facts.ts';

export interface ActivityRecord {
  readonly txid: string;
  readonly height: number;
  readonly tx_index: number;
  readonly time: bigint;
  readonly kind: TransactionType;
  /** Fee of the whole transaction; null if none is paid. */
  readonly fee: bigint | null;
  /** Satoshis of the native coin, gross. */
  readonly received: bigint;
  readonly sent: bigint;
  /** JSON text, net: {i-address: "satoshis"}. */
  readonly currencies: string | null;
}

/** Activity of the address $2 on the chain $1. */
export const ACTIVITY_SQL = `SELECT a.txid, a.height, a.tx_index, a.received, a.sent, a.currencies, b.time, t.kind, t.fee
  FROM address_activity a JOIN blocks b ON b.chain = a.chain AND b.height = a.height
  JOIN transactions t ON t.chain = a.chain AND t.txid = a.txid WHERE a.chain = $1 AND a.address = $2`;
