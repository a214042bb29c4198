/** Blocks for the price fold, read from Postgres. */
import type { PoolClient } from 'pg';
import { getOrInsert } from '../../domain/get-or-insert.ts';
import { factReader, partReader } from '../../infra/postgres/fact-columns.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import { columns, type RowReader, rowReader, type StoredRow } from '../../infra/row-reader.ts';
import type { PricedBlock } from '../../processors/pricing/chain-view.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';

/** A block without its settled transfers, and the currencies that they convert. */
export interface StoredBlock extends PricedBlock {
  /** Changes when the block is derived again; a block of another branch has another version. */
  readonly version: string;
  readonly converted: readonly string[];
}

const readBlock = rowReader({
  height: columns.number,
  ...storedColumns(DEFINITIONS.block, ['hash', 'time', 'clock']),
  version: columns.text,
});
const readState = partReader(DEFINITIONS.currency_state, [
  'currencyId',
  'txid',
  'flags',
  'supply',
  'reserves',
  'liveHeight',
  'state',
]);
const readCurrency = partReader(DEFINITIONS.currency, ['currencyId', 'options']);
const readConverted = rowReader({ ids: columns.texts });
const readTransfer = factReader(DEFINITIONS.transfer);

/** Transfers that may get a stamp: see mayBeStamped of processors/pricing/stamp.ts. */
const EXECUTED = `import_height = from_height AND kind <> 'send'`;
const SETTLED = `status IN ('completed', 'refunded') AND ${EXECUTED}`;
const UNPAID = `status = 'unmatched' AND ${EXECUTED}`;

/** States whose text the no-delivery rule needs, whether or not they are the last of their block. */
const OF_UNPAID = `txid IN (SELECT import_txid FROM transfers
  WHERE chain = $1 AND from_height > $2 AND from_height <= $3 AND ${UNPAID})`;

/**
 * Reads up to `limit` blocks above a height, in order, in one snapshot with the rows that they are compared with. Without settled
 * transfers, blocks contain only transfers without a known payout.
 */
export async function readBlocks(
  client: PoolClient,
  chain: string,
  above: number,
  limit: number,
  withSettled: boolean,
): Promise<StoredBlock[]> {
  const blocks = await readRows(
    client,
    readBlock,
    'SELECT height, hash, time, clock, xmin::text AS version FROM blocks WHERE chain = $1 AND height > $2 ORDER BY height LIMIT $3',
    [chain, above, limit],
  );
  const range = [chain, above, blocks.at(-1)?.height ?? above];
  const states = await grouped(
    client,
    readState,
    `SELECT from_height, currency_id, txid, flags, supply, reserves, live_height,
       CASE WHEN ${OF_UNPAID} THEN state::text ELSE '' END AS state
     FROM currency_states WHERE chain = $1 AND from_height > $2 AND from_height <= $3
       AND (to_height IS DISTINCT FROM from_height OR ${OF_UNPAID}) ORDER BY from_height, tx_index, vout`,
    range,
  );
  const currencies = await grouped(
    client,
    readCurrency,
    `SELECT from_height, currency_id, options FROM currencies
     WHERE chain = $1 AND from_height > $2 AND from_height <= $3
       AND to_height IS DISTINCT FROM from_height ORDER BY from_height, tx_index, vout`,
    range,
  );
  const converted = await grouped(
    client,
    readConverted,
    `SELECT from_height, array_agg(DISTINCT id) AS ids FROM transfers, unnest(ARRAY[from_currency_id, to_currency_id]) AS id
     WHERE chain = $1 AND from_height > $2 AND from_height <= $3 AND ${SETTLED} AND id IS NOT NULL GROUP BY from_height`,
    withSettled ? [chain, above, above] : range,
  );
  const transfers = await grouped(
    client,
    readTransfer,
    `SELECT * FROM transfers WHERE chain = $1 AND from_height > $2 AND from_height <= $3
       AND (${UNPAID}${withSettled ? ` OR ${SETTLED}` : ''})`,
    range,
  );
  return blocks.map(({ height, hash, time, clock, version }) => ({
    chain,
    position: 0,
    height,
    hash,
    version,
    time: Number(time),
    clock: Number(clock),
    states: states.get(height) ?? [],
    currencies: currencies.get(height) ?? [],
    transfers: transfers.get(height) ?? [],
    converted: converted.get(height)?.flatMap(({ ids }) => ids) ?? [],
  }));
}

/** Whether a block that was read earlier is still in the store, which implies the same for the blocks before it. */
export async function isStillThere(client: PoolClient, { chain, height, version }: StoredBlock): Promise<boolean> {
  const sql = 'SELECT FROM blocks WHERE chain = $1 AND height = $2 AND xmin::text = $3';
  return (await client.query(sql, [chain, height, version])).rowCount === 1;
}

const readHeight = rowReader({ from_height: columns.number });

/** Groups rows by `from_height`. */
async function grouped<T>(
  client: PoolClient,
  reader: RowReader<T>,
  sql: string,
  values: readonly unknown[],
): Promise<Map<number, T[]>> {
  const placed = (row: StoredRow) => ({ height: readHeight(row).from_height, value: reader(row) });
  const byHeight = new Map<number, T[]>();
  for (const { height, value } of await readRows(client, placed, sql, values)) {
    getOrInsert(byHeight, height, () => []).push(value);
  }
  return byHeight;
}
