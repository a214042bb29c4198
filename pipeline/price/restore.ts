/** Restores the price stage's state from Postgres at the start and after undone ticks. */

import type { PoolClient } from 'pg';
import { IS_FRACTIONAL_SQL } from '../../domain/basket-liveness.ts';
import { type BasketState, basketState } from '../../domain/basket-state.ts';
import { parsePrice } from '../../domain/decimal.ts';
import { partReader } from '../../infra/postgres/fact-columns.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { positionsOf } from '../../infra/postgres/stage-positions.ts';
import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import { columns, rowReader, type StoredRow } from '../../infra/row-reader.ts';
import type { DailyPrice } from '../../processors/pricing/backfill-bounds.ts';
import { type ChainView, emptyView, isBasketDefinition, viewOf } from '../../processors/pricing/chain-view.ts';
import type { Ema } from '../../processors/pricing/ema.ts';
import type { PriceFoldState, PriceMark, PricingRules } from '../../processors/pricing/price-fold.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';
import { inSnapshot } from '../stage/snapshot.ts';
import { followedGenerations, withRanges } from './generations.ts';
import { newestTick } from './postgres-prices.ts';
import type { ChainCursor, PriceChain, TickedBlock } from './price-chain.ts';
import { restoreDaily, restoreOpenStamps } from './restore-backfill.ts';

export interface Restored {
  readonly cursors: readonly ChainCursor[];
  readonly generations: readonly RestoredGeneration[];
  /** −1 before the first. */
  readonly tick: number;
}

export interface RestoredGeneration {
  readonly generation: number;
  readonly rules: PricingRules;
  readonly state: PriceFoldState;
}

/** Reads the state in one snapshot, because derive may write at the same time. */
export async function restore(
  postgres: Postgres,
  chains: readonly PriceChain[],
  rules: PricingRules,
): Promise<Restored> {
  return inSnapshot(postgres, async (client) => {
    const cursors = await restoreCursors(client, chains);
    const clocks = new Map(
      cursors.flatMap(({ chain, ticked }) => (ticked ? [[chain.name, ticked.clock] as const] : [])),
    );
    const generations: RestoredGeneration[] = [];
    for (const { generation, ranges } of await followedGenerations(client)) {
      const itsRules = withRanges(rules, ranges);
      const state = await restoreState(client, generation, itsRules, clocks);
      generations.push({ generation, rules: itsRules, state });
    }
    return { cursors, generations, tick: await newestTick(client) };
  });
}

/** Returns the state with which the generation's fold continues at these clocks of the chains. */
export async function restoreState(
  client: PoolClient,
  generation: number,
  rules: PricingRules,
  clocks: ReadonlyMap<string, number>,
): Promise<PriceFoldState> {
  const { backfillEnds } = rules.regimes;
  const daily = new Map<string, Map<string, DailyPrice[]>>();
  const open = [];
  for (const [chain, clock] of clocks) {
    daily.set(chain, await restoreDaily(client, generation, chain, clock, backfillEnds));
    open.push(...(await restoreOpenStamps(client, generation, chain, clock, backfillEnds)));
  }
  const prices = await restorePrices(client, generation, rules.chains[0]?.name ?? '');
  return { ...prices, clocks: new Map(clocks), daily, open };
}

/** Reads the positions of the chains; call it in one snapshot. */
async function restoreCursors(client: PoolClient, chains: readonly PriceChain[]): Promise<ChainCursor[]> {
  const cursors: ChainCursor[] = [];
  for (const chain of chains) cursors.push(await restoreCursor(client, chain));
  return cursors;
}

const readCursor = rowReader({
  position: columns.bigint,
  height: columns.number,
  hash: columns.text,
  clock: columns.bigint,
  derived: columns.nullable(columns.text),
});

async function restoreCursor(client: PoolClient, chain: PriceChain): Promise<ChainCursor> {
  const row = await readRow(
    client,
    readCursor,
    `SELECT stage.position, stage.height, stage.hash, stage.clock, blocks.hash AS derived FROM ${positionsOf('price')} AS stage
     LEFT JOIN blocks ON blocks.chain = stage.chain AND blocks.height = stage.height
     WHERE stage.chain = $1`,
    [chain.name],
  );
  const idle = { chain, queue: [], readThrough: -1, isAtEnd: false, derivedHeight: null };
  if (!row) return { ...idle, ticked: null, view: emptyView(chain.name), next: 0 };
  const ticked: TickedBlock = { height: row.height, hash: row.hash, clock: Number(row.clock) };
  const view = row.derived === row.hash ? await restoreView(client, chain.name, row.height) : null;
  return { ...idle, ticked, view, next: Number(row.position) + 1 };
}

const readState = partReader(DEFINITIONS.currency_state, ['currencyId', 'flags', 'supply', 'reserves', 'liveHeight']);
const readSince = rowReader({ from_height: columns.number });
const readBasket = (row: StoredRow) => ({ ...readState(row), height: readSince(row).from_height });
const readDefinition = rowReader(storedColumns(DEFINITIONS.currency, ['currencyId', 'options']));

/** The chain's view after the block at `height`, which must be on the branch of the stores. */
export async function restoreView(client: PoolClient, chain: string, height: number): Promise<ChainView> {
  const asOf = 'chain = $1 AND from_height <= $2 AND (to_height IS NULL OR to_height > $2)';
  const states = await readRows(
    client,
    readBasket,
    `SELECT currency_id, from_height, flags, supply, reserves, live_height FROM currency_states WHERE ${asOf} AND ${IS_FRACTIONAL_SQL}`,
    [chain, height],
  );
  const definitions = await readRows(
    client,
    readDefinition,
    `SELECT currency_id, options FROM currencies WHERE ${asOf}`,
    [chain, height],
  );
  const baskets = new Map<string, BasketState>();
  for (const { height: since, ...state } of states) baskets.set(state.currencyId, basketState(chain, since, state));
  const currencies = definitions.map((row) => [row.currency_id, isBasketDefinition(row.options)] as const);
  return viewOf(chain, height, baskets, new Map(currencies));
}

const readPrice = rowReader({
  currency_id: columns.text,
  is_step: columns.boolean,
  time: columns.bigint,
  tier: columns.number,
  usd_price: columns.text,
  ema_price: columns.text,
  total_depth: columns.text,
  source_basket: columns.nullable(columns.text),
});

/** Newest row of each currency, and its newest row of the default chain, where the EMA made its last step. */
async function restorePrices(client: PoolClient, generation: number, defaultChain: string) {
  const rows = await readRows(
    client,
    readPrice,
    `SELECT * FROM (
       SELECT DISTINCT ON (currency_id, chain = $2) tick, currency_id, chain = $2 AS is_step, time, tier, usd_price,
         ema_price, total_depth, source_basket
       FROM prices WHERE generation = $1 AND tick <= (SELECT max(tick) FROM price_ticks)
       ORDER BY currency_id, chain = $2, tick DESC
     ) AS newest ORDER BY tick`,
    [generation, defaultChain],
  );
  const emas = new Map<string, Ema>();
  const marks = new Map<string, PriceMark>();
  for (const { currency_id, tier, source_basket: sourceBasket, ...row } of rows) {
    if (row.is_step) emas.set(currency_id, { value: parsePrice(row.ema_price), time: Number(row.time) });
    const totalDepth = parsePrice(row.total_depth);
    marks.set(currency_id, { usd: parsePrice(row.usd_price), tier, totalDepth, sourceBasket });
  }
  return { emas, marks };
}
