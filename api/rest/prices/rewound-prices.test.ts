/** While `price` has not yet followed a rewind, no price of a removed block is shown for the block that replaced it. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openReader, type PostgresReader, prepared } from '../../../infra/postgres/reader.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import { keepRemovedBlocks } from '../../../pipeline/sinks/postgres/removed-blocks.ts';
import { otherBranch } from '../../../test/support/pipeline/price/branches.ts';
import { createPriceWorld, type PriceWorld } from '../../../test/support/pipeline/price/price-world.ts';
import { blockOf, slowChains } from '../../../test/support/pipeline/price/slow-chains.ts';
import type { ApiContext } from '../../api-context.ts';
import { pricedHeight } from '../../state/priced-heights.ts';
import { pricedRows } from '../../state/priced-rows.ts';
import { readServiceState, readState, STATE_SQL } from '../../state/service-state.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { pricesOfBlock } from '../addresses/balance-rows.ts';
import { asOf } from './prices-as-of.ts';
import { pricesAtBlocks } from './prices-at-blocks.ts';

const MINUTES = 60_000;
const { first, second, chains, cutover } = slowChains();
const [{ name: chain }] = chains;
const SCOPE = { release: 'test', chains: new Set(chains.map(({ name }) => name)) };
/** Blocks of the first chain: those from `KEPT` on are replaced. The second chain has passed the clocks of all `FED` blocks. */
const [FED, KEPT, BRANCH] = [200, 150, 50];
/** Number of blocks of the first chain that reaches beyond the clock of the second chain. */
const AHEAD = 265;
const kept = first[KEPT - 1];
const [keptHeight, goneHeight] = [kept?.height ?? 0, first[KEPT + 35]?.height ?? 0];

let world: PriceWorld;
let reader: PostgresReader;
beforeAll(async () => {
  world = await createPriceWorld({ chains, cutover, minBasketDepthUsd: 1000 });
  reader = openReader(world.stores.postgres, { maxConnections: 2, statementMs: MINUTES });
}, 2 * MINUTES);
afterAll(async () => {
  await reader.close();
  await world.close();
});

function reading<T>(work: (read: Snapshot, api: ApiContext) => Promise<T>): Promise<T> {
  const api = { clickhouse: world.stores.clickhouse, config: { chains } } as unknown as ApiContext;
  return reader.snapshot(STATE_SQL, (rows, ask) => {
    const all: Snapshot['rows'] = async (read, sql, values = []) => (await ask(prepared(sql), values)).map(read);
    const row: Snapshot['row'] = async (read, sql, values) => (await all(read, sql, values))[0];
    return work({ state: readServiceState(rows.map(readState), SCOPE), rows: all, row }, api);
  });
}

async function pricedIds(): Promise<string[]> {
  const sql = 'SELECT DISTINCT currency_id AS id FROM prices ORDER BY id';
  return (await world.stores.postgres.pool.query<{ id: string }>(sql)).rows.map(({ id }) => id);
}

const readCount = rowReader({ lookups: columns.number });

/** Height that prices have reached, and the number of scans of `blocks` that the statement needed. */
async function pricedSeen() {
  return reading(async (read) => {
    const count = `SELECT (seq_scan + idx_scan)::int AS lookups FROM pg_stat_xact_user_tables WHERE relname = 'blocks'`;
    const before = await read.row(readCount, count);
    const height = await pricedHeight(read, chain);
    return { height, lookups: ((await read.row(readCount, count))?.lookups ?? 0) - (before?.lookups ?? 0) };
  });
}

/** Prices at a block as three paths show them: worth of moved amounts, the oracle as of the block, and the value of a balance. */
async function shownAt(height: number, ids: readonly string[]) {
  const { clock } = blockOf(first.find((block) => block.height === height));
  return reading(async (read, api) => {
    const priceAt = await pricesAtBlocks(read, api, chain, { heights: [height], ids });
    const rows = await pricedRows(read, api);
    const oracle = await asOf(read, api, rows, { height, time: undefined }).catch((error: Error) => error.message);
    const values = await (await pricesOfBlock(read, api, { chain, height, clock }))(ids);
    return {
      rules: new Set(ids.map((id) => priceAt(height, id).rule)),
      provisional: new Set(ids.map((id) => priceAt(height, id).provisional)),
      tick: typeof oracle === 'string' ? oracle : Number(oracle?.tick),
      values: [...values].sort(),
    };
  });
}

it('a block that replaced a priced one is not priced until `price` has reached it', async () => {
  await world.feeds[0]?.append(first.slice(0, FED));
  await world.feeds[1]?.append(second.slice(0, FED + 20));
  await world.run();
  const ids = await pricedIds();
  const [before, gone] = [await shownAt(keptHeight, ids), await shownAt(goneHeight, ids)];
  expect(gone.rules).toContain('block_price');
  expect(gone.tick).toBeGreaterThan(Number(before.tick));
  expect(gone.values).not.toEqual(before.values);

  await world.feeds[0]?.rewind(keptHeight);
  expect((await pricedSeen()).lookups).toBeLessThan(5);
  await world.feeds[0]?.append(first.slice(KEPT, FED));

  const branch = otherBranch(first.slice(KEPT, KEPT + BRANCH), 7, blockOf(kept).clock);
  await world.feeds[0]?.rewind(keptHeight);
  await world.feeds[0]?.append(branch);
  expect(await shownAt(keptHeight, ids)).toEqual(before);
  expect(await shownAt(goneHeight, ids)).toEqual({
    rules: new Set(['not_priced_yet']),
    provisional: new Set([true]),
    tick: `block ${goneHeight} of ${chain} is not priced yet`,
    values: before.values,
  });

  await world.run();
  const made = await shownAt(goneHeight, ids);
  expect(made.rules).toContain('block_price');
  expect(made.tick).toEqual(expect.any(Number));
  expect(made.values).not.toEqual(gone.values);
});

it('a rewind of provisional blocks keeps the prices of the blocks that remain', async () => {
  await world.feeds[0]?.append(first.slice(FED, AHEAD));
  await world.run();
  const ids = await pricedIds();
  const stays = first[AHEAD - 10];
  if (!stays) throw new TypeError('the chain is shorter');
  const { height, hash } = stays;
  const before = await shownAt(height, ids);
  expect(before.rules).toContain('block_price');
  expect(before.provisional).toEqual(new Set([true]));
  expect((await shownAt(height + 5, ids)).rules).toContain('block_price');

  const rewind = { kind: 'rewind', position: AHEAD, height, hash, fromHeight: first[AHEAD - 1]?.height ?? 0 } as const;
  await world.stores.postgres.transaction((client) => keepRemovedBlocks(client, chain, rewind));
  await world.feeds[0]?.rewind(height);
  expect((await pricedSeen()).height).toBe(height);
  expect(await shownAt(height, ids)).toEqual(before);

  await world.feeds[0]?.append(otherBranch(first.slice(AHEAD - 9, AHEAD), 7, blockOf(stays).clock));
  expect((await pricedSeen()).height).toBe(height);
  expect(await shownAt(height, ids)).toEqual(before);
  expect((await shownAt(height + 5, ids)).rules).toEqual(new Set(['not_priced_yet']));
});
