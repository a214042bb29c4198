/** Prices, stamps, ticks and positions in Postgres: every function works inside the transaction that commits its effect. */
import type { PoolClient } from 'pg';
import { copyRows } from '../../infra/postgres/copy.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { forgetStagePositions, saveStagePositions } from '../../infra/postgres/stage-positions.ts';
import { hexParam } from '../../infra/postgres/values.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { StampRow } from '../../processors/pricing/stamp.ts';
import { keptBlocks, keptPrices } from './kept-prices.ts';
import type { FoldedRows } from './price-batch.ts';
import type { ChainCursor } from './price-chain.ts';
import {
  ofGeneration,
  POSTGRES_BACKFILL,
  POSTGRES_PRICES,
  POSTGRES_STAMPS,
  POSTGRES_TICKS,
  type PostgresPriceTable,
  type TickRow,
} from './price-rows.ts';

/** Writes ticks, and the positions of all chains after them. */
export async function writeTicks(client: PoolClient, ticks: readonly TickRow[]): Promise<void> {
  await copy(client, POSTGRES_TICKS, ticks);
  const newest = new Map<string, TickRow>();
  for (const row of ticks) newest.set(row.block.chain, row);
  await saveStagePositions(
    client,
    [...newest.values()].map(({ block: { chain, position, height, hash, clock } }) => {
      return { stage: 'price', chain, position, height, hash, clock };
    }),
  );
}

async function writeRows(client: PoolClient, rows: FoldedRows): Promise<void> {
  const { generation, corrections, stamps } = rows;
  await deleteStamps(client, generation, corrections);
  await copy(client, ofGeneration(POSTGRES_PRICES, generation), rows.prices);
  await copy(client, ofGeneration(POSTGRES_BACKFILL, generation), rows.backfill);
  await copy(client, ofGeneration(POSTGRES_STAMPS, generation), [...corrections, ...stamps]);
}

/** Writes the rows except prices that pruning would delete, and prunes older prices. */
export async function writeKept(
  client: PoolClient,
  ticks: readonly TickRow[],
  rows: FoldedRows,
  [main]: readonly ChainCursor[],
): Promise<void> {
  if (!main?.ticked) return writeRows(client, rows);
  const { name } = main.chain;
  const height = main.ticked.height - keptBlocks(main.chain);
  await writeRows(client, { ...rows, prices: keptPrices(ticks, rows.prices, name, height) });
  await prunePrices(client, rows.generation, name, height);
}

export async function copy<Row>(
  client: PoolClient,
  { name, columns, values }: PostgresPriceTable<Row>,
  rows: readonly Row[],
): Promise<void> {
  if (rows.length > 0) await copyRows(client, name, columns, rows.values().map(values));
}

export async function deleteStamps(client: PoolClient, generation: number, rows: readonly StampRow[]): Promise<void> {
  if (rows.length === 0) return;
  await client.query(
    `DELETE FROM stamps USING unnest($2::text[], $3::bytea[], $4::integer[]) AS key(chain, txid, vout)
     WHERE stamps.generation = $1 AND stamps.chain = key.chain AND stamps.txid = key.txid AND stamps.vout = key.vout`,
    [
      generation,
      rows.map(({ chain }) => chain),
      rows.map(({ transfer }) => hexParam(transfer.txid)),
      rows.map(({ transfer }) => transfer.vout),
    ],
  );
}

const readTick = rowReader({ tick: columns.nullable(columns.bigint) });
const readHeight = rowReader({ height: columns.nullable(columns.number) });

/** Returns the newest tick; −1 before the first. */
export async function newestTick(client: Pick<PoolClient, 'query'>): Promise<number> {
  return Number((await readRow(client, readTick, 'SELECT max(tick) AS tick FROM price_ticks'))?.tick ?? -1n);
}

/** Returns the newest height of a chain that has its tick; −1 before the first. */
export async function newestHeight(client: PoolClient, chain: string): Promise<number> {
  const sql = 'SELECT max(height) AS height FROM price_ticks WHERE chain = $1';
  return (await readRow(client, readHeight, sql, [chain]))?.height ?? -1;
}

/**
 * Returns the first tick that a rewind of `chain` to `height` invalidates; null when there is none. It invalidates the ticks of removed
 * blocks, and ticks of other chains that were complete only because this chain's clock had passed theirs.
 */
export async function firstInvalidTick(
  client: PoolClient,
  chain: string,
  height: number,
  clock: number | null,
): Promise<number | null> {
  const row = await readRow(
    client,
    readTick,
    `WITH kept AS (
       SELECT coalesce($3::bigint, (SELECT clock FROM price_ticks WHERE chain = $1 AND height = $2), -1) AS clock
     )
     SELECT min(tick) AS tick FROM price_ticks, kept
     WHERE tick > coalesce((SELECT tick FROM price_ticks WHERE clock < kept.clock ORDER BY tick DESC LIMIT 1), -1)
       AND (price_ticks.chain <> $1 OR price_ticks.height > $2)`,
    [chain, height, clock],
  );
  return row?.tick == null ? null : Number(row.tick);
}

/** The first tick at or after `clock`; null when there is none. */
export async function firstTickFrom(client: PoolClient, clock: number): Promise<number | null> {
  const row = await readRow(client, readTick, 'SELECT min(tick) AS tick FROM price_ticks WHERE clock >= $1', [clock]);
  return row?.tick == null ? null : Number(row.tick);
}

const readChain = rowReader({ chain: columns.text });
const readNewest = rowReader({
  chain: columns.text,
  position: columns.bigint,
  height: columns.number,
  hash: columns.text,
  clock: columns.bigint,
});

/** Undoes `tick` and all after it, provisional ones too; chains that lose ticks go back to the record of their newest remaining one. */
export async function undoFrom(client: PoolClient, tick: number): Promise<void> {
  // This comes first: a generation in the making either commits before it and is undone too, or commits after it and notices.
  await client.query(
    `UPDATE reprocessing SET undone = undone + 1, priced = least(priced, $1::bigint - 1),
       stamped = least(stamped, $1::bigint - 1), copied = least(copied, $1::bigint - 1)`,
    [tick],
  );
  const changed = await readRows(client, readChain, 'SELECT DISTINCT chain FROM price_ticks WHERE tick >= $1', [tick]);
  for (const table of [POSTGRES_PRICES, POSTGRES_STAMPS, POSTGRES_BACKFILL, POSTGRES_TICKS]) {
    await client.query(`DELETE FROM ${table.name} WHERE tick >= $1`, [tick]);
  }
  for (const table of ['stamp_digests', 'rolled_days']) {
    await client.query(`DELETE FROM ${table} WHERE tick >= $1`, [tick]);
  }
  const chains = changed.map(({ chain }) => chain);
  await forgetStagePositions(client, 'price', chains);
  const newest = await readRows(
    client,
    readNewest,
    `SELECT changed.chain, newest.* FROM unnest($1::text[]) AS changed(chain)
     CROSS JOIN LATERAL (SELECT facts_position AS position, height, hash, clock FROM price_ticks
       WHERE price_ticks.chain = changed.chain ORDER BY height DESC LIMIT 1) AS newest`,
    [chains],
  );
  await saveStagePositions(
    client,
    newest.map((row) => ({ ...row, stage: 'price', position: Number(row.position), clock: Number(row.clock) })),
  );
}

/**
 * Deletes prices that no rewind can need: for each currency, those before its newest price of the default chain at or below `height`.
 * ClickHouse keeps all prices.
 */
async function prunePrices(
  client: PoolClient,
  generation: number,
  defaultChain: string,
  height: number,
): Promise<void> {
  await client.query(
    `WITH horizon AS (SELECT tick FROM price_ticks WHERE chain = $2 AND height = $3),
       kept AS (
         SELECT currency_id, max(prices.tick) AS tick FROM prices, horizon
         WHERE generation = $1 AND chain = $2 AND prices.tick <= horizon.tick GROUP BY currency_id
       )
     DELETE FROM prices USING kept
     WHERE prices.generation = $1 AND prices.currency_id = kept.currency_id AND prices.tick < kept.tick`,
    [generation, defaultChain, height],
  );
}
