/** A rewind restores exactly the previous rows, including those that the removed blocks had replaced, closed or pruned. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { otherBranch } from '../../test/support/pipeline/price/branches.ts';
import { allRows, createPriceWorld, type PriceWorld } from '../../test/support/pipeline/price/price-world.ts';
import { blockOf, slowChains } from '../../test/support/pipeline/price/slow-chains.ts';

const { first: blocks, chains, cutover } = slowChains();
const [main] = chains;

const readStamp = rowReader({
  key: columns.text,
  usd: columns.nullable(columns.text),
  rule: columns.text,
  provisional: columns.boolean,
});
type StoredStamp = RowRead<typeof readStamp>;

describe.each([
  { name: 'nothing pruned', finalityDepth: 1000 },
  { name: 'deeper than what is kept', finalityDepth: 6 },
])('a rewind, $name', ({ finalityDepth }) => {
  let world: PriceWorld;
  beforeEach(async () => {
    world = await createPriceWorld({ chains: [{ ...main, finalityDepth }], cutover, minBasketDepthUsd: 1000 });
  });
  afterEach(() => world.close());

  // Bounds close between 140 and 170; the regimes change between 190 and 230.
  it.each([
    [140, 170],
    [150, 240],
    [190, 230],
    [30, 270],
    [235, 240],
  ])('from block %#: %i to %i and back', async (kept, tip) => {
    const [feed] = world.feeds;
    await feed?.append(blocks.slice(0, kept));
    await world.run();
    const before = await allRows(world.stores);
    const last = blocks[kept - 1];
    await feed?.append(otherBranch(blocks.slice(kept, tip), 9, blockOf(last).clock));
    await world.run();
    expect((await allRows(world.stores)).stamps).not.toEqual(before.stamps);
    await feed?.rewind(last?.height ?? 0);
    await world.run();
    expect(await allRows(world.stores)).toEqual(before);
  });
});

it('restores the rows of a straight run after two rewinds, each within the kept prices and both together beyond them', async () => {
  const worldOf = () => createPriceWorld({ chains: [{ ...main, finalityDepth: 6 }], cutover, minBasketDepthUsd: 1000 });
  const [world, straight] = [await worldOf(), await worldOf()];
  try {
    await straight.feeds[0]?.append(blocks.slice(0, 200));
    await straight.run();
    const [feed] = world.feeds;
    await feed?.append(blocks.slice(0, 200));
    await world.run();
    for (const kept of [190, 180]) {
      await feed?.rewind(blocks[kept - 1]?.height ?? 0);
      await world.run();
    }
    await feed?.append(blocks.slice(180, 200));
    await world.run();
    expect(await allRows(world.stores)).toEqual(await allRows(straight.stores));
  } finally {
    await world.close();
    await straight.close();
  }
});

describe('both stores', () => {
  let world: PriceWorld;
  beforeEach(async () => {
    world = await createPriceWorld({ chains: [main], cutover, minBasketDepthUsd: 1000 });
    await world.feeds[0]?.append(blocks);
    await world.run({ maxTicks: 20 });
  });
  afterEach(() => world.close());

  it('have the same stamps', async () => {
    const [postgres, clickhouse] = await bothStamps(world);
    expect(postgres.length).toBeGreaterThan(100);
    expect(postgres.filter(({ provisional }) => provisional).length).toBeGreaterThan(10);
    expect(clickhouse).toEqual(postgres);
  });

  it('have the same stamps again after a crash in the middle of replacing a stamp', async () => {
    const open = 'provisional AND import_height < 500';
    await world.stores.clickhouse.command(`DELETE FROM conversions WHERE ${open} AND vout = 0`);
    await world.stores.clickhouse.command(
      `ALTER TABLE conversions UPDATE usd_value = 1, rule = 'unpriced' WHERE ${open}`,
    );
    const [postgres, broken] = await bothStamps(world);
    expect(broken).not.toEqual(postgres);
    await world.run();
    expect((await bothStamps(world))[1]).toEqual(postgres);
  });
});

async function bothStamps({ stores }: PriceWorld): Promise<[StoredStamp[], StoredStamp[]]> {
  const rows = await readRows(
    stores.postgres.pool,
    readStamp,
    `SELECT encode(txid, 'hex') || ':' || vout AS key, trim_scale(usd_value)::text AS usd, rule, provisional FROM stamps`,
  );
  const analytics = await stores.clickhouse.rows(
    readStamp,
    `SELECT concat(txid, ':', toString(vout)) AS key, toString(usd_value) AS usd, rule, provisional FROM conversions`,
  );
  const byKey = (a: StoredStamp, b: StoredStamp) => (a.key < b.key ? -1 : 1);
  return [rows.sort(byKey), analytics.sort(byKey)];
}
