/** What each transaction did to an address. */
import { columns, type RowRead, rowReader, storedColumns } from '../../../infra/postgres/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';

export const readActivity = rowReader({
  height: columns.number,
  ...storedColumns(DEFINITIONS.transaction, ['txid', 'txIndex', 'kind']),
  /** Fee of the whole transaction; null if none is paid. */
  ...storedColumns(DEFINITIONS.transaction, ['fee']),
  ...storedColumns(DEFINITIONS.block, ['time']),
  /** Satoshis of the native coin, gross. */
  ...storedColumns(DEFINITIONS.activity, ['received', 'sent']),
  /** JSON text, net: {i-address: "satoshis"}. */
  ...storedColumns(DEFINITIONS.activity, ['currencies']),
});
export type ActivityRecord = RowRead<typeof readActivity>;

/** Activity of the address $2 on the chain $1. */
export const ACTIVITY_SQL = `SELECT a.txid, a.height, a.tx_index, a.received, a.sent, a.currencies, b.time, t.kind, t.fee
  FROM address_activity a JOIN blocks b ON b.chain = a.chain AND b.height = a.height
  JOIN transactions t ON t.chain = a.chain AND t.txid = a.txid WHERE a.chain = $1 AND a.address = $2`;
