/** Provisional rows in Postgres: every function works inside the transaction that makes it count. Nothing folds on from them. */
import type { PoolClient } from 'pg';
import { hexParam } from '../../infra/postgres/values.ts';
import type { PriceRow } from '../../processors/pricing/price-fold.ts';
import {
  AHEAD_FIRST,
  type AheadDrop,
  type AheadRows,
  type AheadTip,
  nothingShown,
  type Shown,
} from './ahead-change.ts';
import { copy, deleteStamps } from './postgres-prices.ts';
import { ofGeneration, POSTGRES_PRICES, POSTGRES_STAMPS } from './price-rows.ts';

/** Of prices only the current ones are held: each currency's newest row, and that which made its newest step of the average. */
export interface CurrentPrices {
  readonly generation: number;
  readonly prices: readonly PriceRow[];
}

export async function dropAhead(client: PoolClient, { keepThrough, passed }: AheadDrop): Promise<void> {
  for (const { name } of [POSTGRES_PRICES, POSTGRES_STAMPS]) {
    await client.query(`DELETE FROM ${name} WHERE tick >= $1 AND tick < $2`, [AHEAD_FIRST, passed]);
    if (keepThrough !== null) await client.query(`DELETE FROM ${name} WHERE tick > $1`, [keepThrough]);
  }
}

/** Stamps alone: prices are replaced as a whole, once the last part is there. */
export async function appendAhead(client: PoolClient, folded: readonly AheadRows[]): Promise<void> {
  for (const { generation, stamps, corrected } of folded) {
    await deleteStamps(client, generation, corrected);
    await copy(client, ofGeneration(POSTGRES_STAMPS, generation), [...corrected, ...stamps]);
  }
}

export async function replaceAheadPrices(client: PoolClient, current: readonly CurrentPrices[]): Promise<void> {
  await client.query('DELETE FROM prices WHERE tick >= $1', [AHEAD_FIRST]);
  for (const { generation, prices } of current) await copy(client, ofGeneration(POSTGRES_PRICES, generation), prices);
}

/** Where what is shown begins and ends. */
export async function saveShown(client: PoolClient, { first, next, tips }: Shown): Promise<void> {
  await forgetShown(client);
  await client.query('INSERT INTO price_ahead VALUES ($1, $2)', [first, next]);
  for (const [chain, { position, height, hash, clock }] of tips) {
    await client.query(
      `INSERT INTO stage_positions (stage, chain, position, height, hash, clock) VALUES ('price_ahead', $1, $2, $3, $4, $5)`,
      [chain, position, height, hexParam(hash), clock],
    );
  }
}

export async function readShown(client: PoolClient): Promise<Shown> {
  const { rows } = await client.query<{ first_tick: bigint; next_tick: bigint }>('SELECT * FROM price_ahead');
  const [place] = rows;
  if (!place) return nothingShown();
  const tips = await client.query<{ chain: string; position: bigint; height: number; hash: string; clock: bigint }>(
    `SELECT chain, position, height, hash, clock FROM stage_positions WHERE stage = 'price_ahead'`,
  );
  return {
    first: Number(place.first_tick),
    next: Number(place.next_tick),
    tips: new Map(
      tips.rows.map(({ chain, position, height, hash, clock }) => [chain, tipOf(position, height, hash, clock)]),
    ),
  };
}

/** Undoing complete ticks does this as well: every provisional tick comes after them. */
export async function forgetShown(client: PoolClient): Promise<void> {
  await client.query('DELETE FROM price_ahead');
  await client.query(`DELETE FROM stage_positions WHERE stage = 'price_ahead'`);
}

function tipOf(position: bigint, height: number, hash: string, clock: bigint): AheadTip {
  return { position: Number(position), height, hash, clock: Number(clock) };
}
