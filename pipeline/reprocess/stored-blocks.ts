/** Blocks as the price fold takes them, read from what Postgres holds of them. */
import type { PoolClient } from 'pg';
import { valueReader } from '../../infra/postgres/fact-columns.ts';
import type { PricedBlock } from '../../processors/pricing/chain-view.ts';
import { type CurrencyFact, type CurrencyStateFact, DEFINITIONS, type TransferFact } from '../../schemas/facts.ts';

/** A block without its settled transfers, and the currencies that they convert. */
export interface StoredBlock extends PricedBlock {
  /** Changes when the block is derived again; a block of another branch has another one. */
  readonly version: string;
  readonly converted: readonly string[];
}

interface BlockRecord {
  readonly height: number;
  readonly hash: string;
  readonly time: bigint;
  readonly clock: bigint;
  readonly version: string;
}

const readReserves = valueReader(DEFINITIONS.currency_state.fields.reserves);

/** What a stamp may be for: see mayBeStamped of processors/pricing/stamp.ts. */
const EXECUTED = `import_height = from_height AND kind <> 'send'`;
const SETTLED = `status IN ('completed', 'refunded') AND ${EXECUTED}`;
const UNPAID = `status = 'unmatched' AND ${EXECUTED}`;

/** States that a rule asks for what their imports state: the last of a block or not, and with their text. */
const OF_UNPAID = `txid IN (SELECT import_txid FROM transfers
  WHERE chain = $1 AND from_height > $2 AND from_height <= $3 AND ${UNPAID})`;

/**
 * Up to `limit` blocks above a height, in order; to be read in one snapshot with what they are compared with. Without settled
 * transfers they hold those alone that no payout was found for.
 */
export async function readBlocks(
  client: PoolClient,
  chain: string,
  above: number,
  limit: number,
  withSettled: boolean,
): Promise<StoredBlock[]> {
  const { rows: blocks } = await client.query<BlockRecord>(
    'SELECT height, hash, time, clock, xmin::text AS version FROM blocks WHERE chain = $1 AND height > $2 ORDER BY height LIMIT $3',
    [chain, above, limit],
  );
  const range = [chain, above, blocks.at(-1)?.height ?? above];
  const states = await grouped<CurrencyStateFact>(
    client,
    `SELECT from_height, currency_id AS "currencyId", txid, flags, supply, reserves, live_height AS "liveHeight",
       CASE WHEN ${OF_UNPAID} THEN state END AS state
     FROM currency_states WHERE chain = $1 AND from_height > $2 AND from_height <= $3
       AND (to_height IS DISTINCT FROM from_height OR ${OF_UNPAID}) ORDER BY from_height, tx_index, vout`,
    range,
  );
  const currencies = await grouped<CurrencyFact>(
    client,
    `SELECT from_height, currency_id AS "currencyId", options FROM currencies
     WHERE chain = $1 AND from_height > $2 AND from_height <= $3
       AND to_height IS DISTINCT FROM from_height ORDER BY from_height, tx_index, vout`,
    range,
  );
  const converted = await grouped<{ readonly ids: readonly string[] }>(
    client,
    `SELECT from_height, array_agg(DISTINCT id) AS ids FROM transfers, unnest(ARRAY[from_currency_id, to_currency_id]) AS id
     WHERE chain = $1 AND from_height > $2 AND from_height <= $3 AND ${SETTLED} AND id IS NOT NULL GROUP BY from_height`,
    withSettled ? [chain, above, above] : range,
  );
  const transfers = await grouped<TransferFact>(
    client,
    `SELECT from_height, txid, vout, kind, status, from_currency_id AS "fromCurrencyId", to_currency_id AS "toCurrencyId",
       via_currency_id AS "viaCurrencyId", import_currency_id AS "importCurrencyId", amount_in AS "amountIn",
       amount_out AS "amountOut", conversion_fee AS "conversionFee", source, destination, request_height AS "requestHeight",
       import_txid AS "importTxid"
     FROM transfers WHERE chain = $1 AND from_height > $2 AND from_height <= $3
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
    states: (states.get(height) ?? []).map((state) => ({
      ...state,
      reserves: readReserves(state.reserves),
    })),
    currencies: currencies.get(height) ?? [],
    transfers: transfers.get(height) ?? [],
    converted: converted.get(height)?.flatMap(({ ids }) => ids) ?? [],
  }));
}

/** Whether a block that was read earlier is still what the store holds; those before it are so, too. */
export async function isStillThere(client: PoolClient, { chain, height, version }: StoredBlock): Promise<boolean> {
  const { rows } = await client.query('SELECT FROM blocks WHERE chain = $1 AND height = $2 AND xmin::text = $3', [
    chain,
    height,
    version,
  ]);
  return rows.length > 0;
}

async function grouped<T>(client: PoolClient, sql: string, values: readonly unknown[]): Promise<Map<number, T[]>> {
  const { rows } = await client.query<T & { from_height: number }>(sql, [...values]);
  const byHeight = new Map<number, T[]>();
  for (const row of rows) {
    const list = byHeight.get(row.from_height);
    if (list) list.push(row);
    else byHeight.set(row.from_height, [row]);
  }
  return byHeight;
}
