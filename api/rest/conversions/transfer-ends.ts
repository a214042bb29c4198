/**
 * A transfer between two configured chains has a row on each of them, linked by the key of its export. These joins to `transfers t`
 * combine the two rows, whichever chain is ahead.
 */

import { escapeLiteral } from 'pg';
import { countsAsRefundedSql, NO_DELIVERY } from '../../../domain/stamps.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, type RowOf } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import type { ListSource } from '../../http/list-source.ts';
import { reversed } from '../../http/paging.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import type { ServiceState } from '../../state/service-state.ts';

/** Hides the transfers of chains that are no longer configured from a statement, so that an end on such a chain is unknown. */
export function amongConfigured({ leftOut }: Pick<ServiceState, 'leftOut'>, sql: string): string {
  if (leftOut.length === 0) return sql;
  const names = leftOut.map((name) => escapeLiteral(name)).join(', ');
  return `WITH transfers AS NOT MATERIALIZED (SELECT * FROM transfers WHERE chain NOT IN (${names})) ${sql}`;
}

/** Condition for `e` to be the other end of `t`. */
export const SAME_EXPORT = `e.to_height IS NULL AND e.export_txid = t.export_txid AND e.export_vout = t.export_vout
  AND e.export_index = t.export_index`;

/** `far` is the outcome on the destination chain, `near` the request on the source chain, `leg` the transfer that continues the payout. */
export const FAR_END = `LEFT JOIN LATERAL (SELECT e.* FROM transfers e
    WHERE t.import_system_id IS NOT NULL AND e.source_system_id IS NOT NULL AND ${SAME_EXPORT} ORDER BY e.chain LIMIT 1) far ON true`;
export const JOINED_ENDS = `${FAR_END}
  LEFT JOIN LATERAL (SELECT e.* FROM transfers e WHERE t.source_system_id IS NOT NULL AND e.import_system_id IS NOT NULL
    AND ${SAME_EXPORT} ORDER BY e.chain LIMIT 1) near ON true
  LEFT JOIN LATERAL (SELECT e.txid, e.vout FROM transfers e
    WHERE coalesce(far.destination_system_id, t.destination_system_id) IS NOT NULL
    AND e.chain = coalesce(far.chain, t.chain) AND e.txid = coalesce(far.import_txid, t.import_txid)
    AND e.vout = coalesce(far.payout_vout, t.payout_vout) AND e.to_height IS NULL LIMIT 1) leg ON true`;

/** Joins stamps of generation $1. A stamp belongs to the chain that executed the conversion. */
export const STAMP_JOIN = `LEFT JOIN stamps s ON s.generation = $1 AND s.chain = coalesce(far.chain, t.chain)
  AND s.txid = coalesce(far.txid, t.txid) AND s.vout = coalesce(far.vout, t.vout)`;

/**
 * Whether a row of `transfers` that its own chain executes has such a stamp, for statements without STAMP_JOIN. A lookup by key,
 * because Postgres may turn an EXISTS into a scan of all stamps.
 */
export const countsAsRefunded = (row: 't' | 'far') =>
  `(${stampMember('reason', row)} IS NOT DISTINCT FROM '${NO_DELIVERY}')`;

/** Whether the row has a stamp whose sides diverge. */
export const hasDiverged = (row: 't' | 'far') => `coalesce(${stampMember('diverged', row)}, false)`;

const stampMember = (column: string, row: 't' | 'far') => `(SELECT u.${column} FROM stamps u WHERE u.generation = $1
  AND u.chain = ${row}.chain AND u.txid = ${row}.txid AND u.vout = ${row}.vout)`;

/** Status from whichever chain knows the outcome, without the effect of the stamp. */
export const STORED_STATUS_SQL = 'coalesce(far.status, t.status)';
const IS_NOT_DELIVERED = `(${countsAsRefundedSql(STORED_STATUS_SQL, 's.reason')})`;

/** The export is on the chain of the request. */
const EXPORT_CHAIN = 'CASE WHEN t.source_system_id IS NULL THEN t.chain ELSE near.chain END';
const EXPORT_HEIGHT = 'CASE WHEN t.source_system_id IS NULL THEN t.export_height ELSE near.export_height END';
/** SQL of the columns of ENDS; needs JOINED_ENDS and STAMP_JOIN. */
export const ENDS_COLUMNS = `t.chain, t.txid, t.vout, t.request_height, t.request_time, t.destination,
  coalesce(near.txid, t.txid) AS request_txid, coalesce(near.vout, t.vout) AS request_vout,
  coalesce(near.source, t.source) AS source, t.export_txid,
  CASE WHEN t.source_system_id IS NULL THEN t.request_time ELSE near.request_time END AS asked_time,
  ${EXPORT_HEIGHT} AS export_height,
  (SELECT time FROM blocks WHERE chain = ${EXPORT_CHAIN} AND height = ${EXPORT_HEIGHT}) AS export_time,
  t.source_system_id, t.import_system_id, t.destination_system_id,
  CASE WHEN t.source_system_id IS NULL THEN far.chain ELSE near.chain END AS other_chain,
  CASE WHEN ${IS_NOT_DELIVERED} THEN 'refunded' ELSE ${STORED_STATUS_SQL} END AS status, coalesce(far.amount_out, t.amount_out) AS amount_out,
  coalesce(far.import_txid, t.import_txid) AS import_txid, coalesce(far.import_height, t.import_height) AS import_height,
  coalesce(far.import_time, t.import_time) AS import_time,
  CASE WHEN t.import_txid IS NULL THEN far.chain ELSE t.chain END AS import_chain,
  CASE WHEN ${IS_NOT_DELIVERED} THEN '${NO_DELIVERY}' ELSE coalesce(far.reason, t.reason) END AS transfer_reason, leg.txid AS leg_txid, leg.vout AS leg_vout`;

const TRANSFER = DEFINITIONS.transfer;

export const ENDS = {
  /** Chain, key and block of the row itself. */
  chain: columns.text,
  ...storedColumns(TRANSFER, ['txid', 'vout', 'requestHeight', 'requestTime']),
  /** The output that requested the transfer; the key of the row while the source chain does not know the request. */
  request_txid: columns.text,
  request_vout: columns.number,
  /** Block time of the request; null while the source chain does not know it. */
  asked_time: columns.nullable(columns.bigint),
  ...storedColumns(TRANSFER, ['source', 'destination', 'sourceSystemId', 'importSystemId', 'destinationSystemId']),
  ...storedColumns(TRANSFER, ['status', 'amountOut', 'exportTxid', 'importTxid']),
  /** Configured chain that has the other end; null while none has. */
  other_chain: columns.nullable(columns.text),
  /** Height on the chain of the request; null while the export is not known. */
  ...storedColumns(TRANSFER, ['exportHeight']),
  export_time: columns.nullable(columns.bigint),
  /** Height on `import_chain`. */
  ...storedColumns(TRANSFER, ['importHeight', 'importTime']),
  /** Chain that executed it. */
  import_chain: columns.nullable(columns.text),
  transfer_reason: columns.nullable(columns.text),
  /** The transfer on `import_chain` that carries the payout on. */
  leg_txid: columns.nullable(columns.text),
  leg_vout: columns.nullable(columns.number),
};
export type EndsRecord = RowOf<typeof ENDS>;

/** Newest first. */
export const TRANSFER_KEY = [
  { column: 'request_height', sql: 't.request_height', kind: 'integer', order: 'DESC' },
  { column: 'txid', sql: 't.txid', kind: 'hex', order: 'ASC' },
  { column: 'vout', sql: 't.vout', kind: 'integer', order: 'ASC' },
] as const satisfies ListSource<never, never>['key'];

export const TRANSFER_ORDERS = ['newest', 'oldest', 'largest'] as const;
export type TransferOrder = (typeof TRANSFER_ORDERS)[number];

/** `largest` requires a joined stamp `s` with a value. */
export const TRANSFER_KEYS: Readonly<Record<TransferOrder, ListSource<never, never>['key']>> = {
  newest: TRANSFER_KEY,
  oldest: reversed(TRANSFER_KEY),
  largest: [{ column: 'usd_value', sql: 's.usd_value', kind: 'decimal', order: 'DESC' }, ...TRANSFER_KEY],
};

/**
 * Name of the configured chain at the other end. While that end is not known, the chain of the other system; null if that system is
 * not indexed.
 */
export function otherChain(row: EndsRecord, currencies: Currencies): string | null {
  const systemId = row.source_system_id ?? row.import_system_id;
  return row.other_chain ?? (systemId === null ? null : currencies.chainOf(systemId));
}

/** Members of the ends in an answer. */
export function endsAnswer(row: EndsRecord, currencies: Currencies) {
  const oneChain = row.source_system_id === null && row.import_system_id === null;
  return {
    exportHeight: row.export_height,
    exportTime: row.export_time === null ? null : Number(row.export_time),
    importTxid: row.import_txid,
    importChain: row.import_chain,
    importHeight: row.import_height,
    importTime: row.import_time === null ? null : Number(row.import_time),
    sourceSystemId: row.source_system_id,
    sourceChain: row.source_system_id === null ? null : otherChain(row, currencies),
    exportTo: row.destination_system_id,
    exportToName: currencies.name(row.destination_system_id),
    nextLegTxid: row.leg_txid,
    nextLegVout: row.leg_vout,
    latencyBlocks: oneChain && row.import_height !== null ? row.import_height - row.request_height : null,
    latencySeconds:
      row.import_time === null || row.asked_time === null ? null : Number(row.import_time - row.asked_time),
    reason: row.transfer_reason,
  };
}
