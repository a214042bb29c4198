/** The effect of each transaction on an address. */

import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, type RowRead, rowReader } from '../../../infra/row-reader.ts';
import { readAmounts } from '../../../infra/stored-json/amounts.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import type { ApiContext } from '../../api-context.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { pricesAtBlocks } from '../prices/prices-at-blocks.ts';
import { worthAnswer } from '../prices/worth-then.ts';

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

/** Net satoshis by currency, without zeros; the native coin first. */
export function netOf(row: Pick<ActivityRecord, 'received' | 'sent' | 'currencies'>, nativeId: string): NetAmounts {
  const tokens = Object.entries(readAmounts(row.currencies ?? '{}'));
  const native = row.received - row.sent;
  return [
    ...(native === 0n ? [] : [[nativeId, native] as const]),
    ...tokens.filter(([id]) => id !== nativeId).map(([id, satoshis]) => [id, BigInt(satoshis)] as const),
  ];
}
export type NetAmounts = readonly (readonly [currencyId: string, satoshis: bigint])[];

interface Valued {
  readonly chain: string;
  readonly rows: readonly ActivityRecord[];
  readonly currencies: Currencies;
}

/** Returns a function from a row to its USD worth at the end of its block. */
export async function activityWorth(read: Snapshot, api: ApiContext, { chain, rows, currencies }: Valued) {
  const nativeId = api.currencies.nativeId(api.chain(chain));
  const nets = rows.map((row) => netOf(row, nativeId));
  const ids = nets.flatMap((net) => net.map(([id]) => id));
  const priceAt = await pricesAtBlocks(read, api, chain, { heights: rows.map(({ height }) => height), ids });
  return (row: ActivityRecord) => worthAnswer(netOf(row, nativeId), row.height, priceAt, currencies);
}

/** Activity of the address $2 on the chain $1. */
export const ACTIVITY_SQL = `SELECT a.txid, a.height, a.tx_index, a.received, a.sent, a.currencies, b.time, t.kind, t.fee
  FROM address_activity a JOIN blocks b ON b.chain = a.chain AND b.height = a.height
  JOIN transactions t ON t.chain = a.chain AND t.txid = a.txid WHERE a.chain = $1 AND a.address = $2`;
