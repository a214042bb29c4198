/** Provisional rows in Postgres: every function works inside the transaction that commits its effect. No fold continues from these rows. */
import type { PoolClient } from 'pg';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { forgetStagePositions, readStagePositions, saveStagePositions } from '../../infra/postgres/stage-positions.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { PriceRow } from '../../processors/pricing/price-fold.ts';
import { FIRST_AHEAD_TICK } from '../../schemas/ahead-runs.ts';
import { type AheadDrop, type AheadRows, nothingShown, type Shown } from './ahead-change.ts';
import { copy, deleteStamps } from './postgres-prices.ts';
import { ofGeneration, POSTGRES_PRICES, POSTGRES_STAMPS } from './price-rows.ts';

/** Only current prices: each currency's newest row, and the row of its newest step of the average. */
export interface CurrentPrices {
  readonly generation: number;
  readonly prices: readonly PriceRow[];
}

export async function dropAhead(client: PoolClient, { keepThrough, passed }: AheadDrop): Promise<void> {
  for (const { name } of [POSTGRES_PRICES, POSTGRES_STAMPS]) {
    await client.query(`DELETE FROM ${name} WHERE tick >= $1 AND tick < $2`, [FIRST_AHEAD_TICK, passed]);
    if (keepThrough !== null) await client.query(`DELETE FROM ${name} WHERE tick > $1`, [keepThrough]);
  }
}

/** Appends only stamps: prices are replaced as a whole after the last part. */
export async function appendAhead(client: PoolClient, folded: readonly AheadRows[]): Promise<void> {
  for (const { generation, stamps, corrections } of folded) {
    await deleteStamps(client, generation, corrections);
    await copy(client, ofGeneration(POSTGRES_STAMPS, generation), [...corrections, ...stamps]);
  }
}

export async function replaceAheadPrices(client: PoolClient, current: readonly CurrentPrices[]): Promise<void> {
  await client.query('DELETE FROM prices WHERE tick >= $1', [FIRST_AHEAD_TICK]);
  for (const { generation, prices } of current) await copy(client, ofGeneration(POSTGRES_PRICES, generation), prices);
}

/** Saves the beginning and the end of the shown rows. */
export async function saveShown(client: PoolClient, { first, next, tips }: Shown): Promise<void> {
  await forgetShown(client);
  await client.query('INSERT INTO price_ahead VALUES ($1, $2)', [first, next]);
  await saveStagePositions(
    client,
    [...tips].map(([chain, tip]) => ({ stage: 'price_ahead', chain, ...tip })),
  );
}

const readPlace = rowReader({ first_tick: columns.bigint, next_tick: columns.bigint });

export async function readShown(client: PoolClient): Promise<Shown> {
  const place = await readRow(client, readPlace, 'SELECT * FROM price_ahead');
  if (!place) return nothingShown();
  const tips = await readStagePositions(client, 'price_ahead');
  return { first: Number(place.first_tick), next: Number(place.next_tick), tips };
}

/** Undoing complete ticks also removes the shown rows, because every provisional tick comes after them. */
export async function forgetShown(client: PoolClient): Promise<void> {
  await client.query('DELETE FROM price_ahead');
  await forgetStagePositions(client, 'price_ahead');
}
