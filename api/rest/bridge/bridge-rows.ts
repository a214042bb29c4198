/** Transfers between a chain and another system, for REST and JSON-RPC. */

import { conversionStatus } from '../../../domain/transfers.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, type RowRead, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import type { ApiContext } from '../../api-context.ts';
import { type HeightRange, heightCondition } from '../../http/height-range.ts';
import { coins, coinsOrNull, usdValueOf } from '../../http/values.ts';
import type { ServiceState } from '../../state/service-state.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import {
  amongConfigured,
  ENDS,
  ENDS_COLUMNS,
  endsAnswer,
  JOINED_ENDS,
  otherChain,
  SAME_EXPORT,
  STAMP_JOIN,
} from '../conversions/transfer-ends.ts';
import { latestPrices } from '../prices/price-rows.ts';
import type { BRIDGE_DIRECTIONS } from './schema.ts';

export const readBridged = rowReader({
  ...ENDS,
  ...storedColumns(DEFINITIONS.transfer, ['kind', 'toCurrencyId', 'amountIn', 'transferFee', 'transferFeeCurrencyId']),
  /** The other system. */
  system_id: columns.text,
  /** Currency of the input; for a mint, the currency it makes. */
  currency_id: columns.text,
  /** Sender of the transfer whose payout this one continues. */
  first_source: columns.nullable(columns.text),
});
export type BridgeRecord = RowRead<typeof readBridged>;

export interface BridgeFilter {
  readonly state: Pick<ServiceState, 'generation' | 'leftOut'>;
  readonly chain: string;
  /** All configured chains. */
  readonly chains: readonly string[];
  readonly direction?: (typeof BRIDGE_DIRECTIONS)[number] | undefined;
  /** Sender or recipient. */
  readonly address?: string | undefined;
  /** Range of the request heights. */
  readonly heights?: HeightRange;
}

/** A contribution to a launch is not a bridge transfer, whichever system its converter is on. */
const BRIDGED = `t.to_height IS NULL AND t.kind <> 'preconvert' AND (t.import_system_id IS NOT NULL OR t.source_system_id IS NOT NULL)
  AND $1::integer IS NOT NULL AND t.chain = $2`;
const DIRECTIONS = { in: 't.source_system_id IS NOT NULL', out: 't.import_system_id IS NOT NULL' };

const SQL = `SELECT ${ENDS_COLUMNS}, t.kind, coalesce(t.source_system_id, t.import_system_id) AS system_id,
    coalesce(t.from_currency_id, t.to_currency_id) AS currency_id,
    t.to_currency_id, t.amount_in, t.transfer_fee, t.transfer_fee_currency_id, first.source AS first_source
  FROM transfers t ${JOINED_ENDS} ${STAMP_JOIN}
  LEFT JOIN LATERAL (SELECT e.source FROM transfers e WHERE t.source IS NULL AND e.to_height IS NULL
    AND e.chain = coalesce(near.chain, t.chain) AND e.import_txid = coalesce(near.txid, t.txid)
    AND e.payout_vout = coalesce(near.vout, t.vout) LIMIT 1) first ON true
  WHERE ${BRIDGED}`;

/**
 * Keys of the rows of chain $2 that may concern an address: as recipient, or as sender of the row, of the transfer whose payout the
 * row continues, or of the other end of either on another chain. Each lookup uses an index; the condition of the list filters exactly.
 */
const concerning = (address: string, chains: string) => `
  SELECT txid, vout FROM transfers WHERE to_height IS NULL AND chain = $2 AND destination = ${address}
  UNION (WITH sent AS MATERIALIZED (SELECT chain, txid, vout, import_txid, payout_vout, export_txid, export_vout, export_index
      FROM transfers WHERE to_height IS NULL AND chain = ANY(${chains}) AND source = ${address}),
    legs AS (SELECT chain, txid, vout, export_txid, export_vout, export_index FROM sent
      UNION ALL SELECT leg.chain, leg.txid, leg.vout, leg.export_txid, leg.export_vout, leg.export_index
      FROM sent JOIN transfers leg ON leg.to_height IS NULL AND leg.chain = sent.chain AND leg.txid = sent.import_txid
        AND leg.vout = sent.payout_vout)
    SELECT txid, vout FROM legs WHERE chain = $2
    UNION ALL SELECT e.txid, e.vout FROM legs t JOIN transfers e ON e.source_system_id IS NOT NULL AND ${SAME_EXPORT}
      WHERE e.chain = $2)`;

/** Returns SQL for the current transfers from and to other systems, unordered; `rows` is the FROM clause that counts them. */
export function bridgeSql({ state, chain, chains, direction, address, heights }: BridgeFilter) {
  const values: unknown[] = [state.generation, chain];
  const ofDirection = direction === undefined ? '' : ` AND ${DIRECTIONS[direction]}`;
  const own = ofDirection + (heights ? heightCondition(heights, 't.request_height', values) : '');
  if (address === undefined)
    return { sql: amongConfigured(state, SQL + own), rows: `transfers t WHERE ${BRIDGED}${own}`, values };
  const place = `$${values.push(address)}::text`;
  const keys = concerning(place, `$${values.push(chains)}::text[]`);
  const ofAddress = ` AND ${place} IN (t.destination, t.source, near.source, first.source)`;
  const sql = amongConfigured(state, `${SQL}${own} AND (t.txid, t.vout) IN (${keys})${ofAddress}`);
  return { sql, rows: `(${sql}) AS matching`, values };
}

/** Turns stored rows into the rows of an answer. */
export async function bridgeAnswers(read: Snapshot, api: ApiContext, rows: readonly BridgeRecord[]) {
  const currencies = await api.currencies.of(read);
  const ids = [...new Set(rows.map((row) => row.currency_id))];
  const prices = new Map((await latestPrices(read, api, ids)).map((price) => [price.currency_id, price.usd_price]));
  return rows.map((row) => {
    const isIn = row.source_system_id !== null;
    const isRequestKnown = !isIn || row.asked_time !== null;
    const { system_id: systemId } = row;
    const { sourceSystemId: _, sourceChain: __, ...ends } = endsAnswer(row, currencies);
    return {
      chain: row.chain,
      txid: isRequestKnown ? row.request_txid : null,
      vout: isRequestKnown ? row.request_vout : null,
      direction: isIn ? ('in' as const) : ('out' as const),
      type: row.kind,
      systemId,
      systemName: currencies.name(systemId),
      systemChain: otherChain(row, currencies),
      currency: currencies.name(row.currency_id),
      currencyId: row.currency_id,
      amount: coins(row.amount_in),
      usdValue: usdValueOf(row.amount_in, prices.get(row.currency_id) ?? null),
      toCurrency: currencies.name(row.to_currency_id),
      toCurrencyId: row.to_currency_id,
      amountOut: coinsOrNull(row.amount_out),
      sender: row.source ?? row.first_source,
      recipient: row.destination,
      fee: coins(row.transfer_fee),
      feeCurrency: currencies.name(row.transfer_fee_currency_id),
      feeCurrencyId: row.transfer_fee_currency_id,
      height: row.request_height,
      time: Number(row.request_time),
      status: conversionStatus(row.status),
      exportTxid: row.export_txid,
      ...ends,
    };
  });
}
