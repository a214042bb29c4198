/** A rewind while a batch of a generation in the making is being written waits, and then undoes what the batch has written. */
import { expect, it } from 'vitest';
import { otherBranch } from '../../test/support/pipeline/price/branches.ts';
import { allRows, createPriceWorld } from '../../test/support/pipeline/price/price-world.ts';
import { blockOf, slowChains } from '../../test/support/pipeline/price/slow-chains.ts';
import {
  begin,
  EVERYTHING,
  type MakeInWorld,
  serveRanges,
  toTheEnd,
  withMaker,
} from '../../test/support/pipeline/reprocess/make.ts';

const { first, chains, cutover } = slowChains();
const config = { chains: chains.slice(0, 1), cutover, minBasketDepthUsd: 1000 };
const TIP = 150;
const KEPT = 145;
const kept = first[KEPT - 1];
const branch = otherBranch(first.slice(KEPT, TIP), 1, blockOf(kept).clock);

it('leaves no row of the removed branch', async () => {
  const [world, straight] = [await createPriceWorld(config), await createPriceWorld(config)];
  const { pool } = world.stores.postgres;
  const [feed] = world.feeds;
  let rewinding: Promise<unknown> | null = null;
  const isWaiting = async (): Promise<boolean> => {
    const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
      AND query LIKE 'UPDATE reprocessing%'`;
    return ((await pool.query(sql)).rowCount ?? 0) > 0;
  };
  const rewind = async (): Promise<void> => {
    await feed?.rewind(kept?.height ?? 0);
    await world.run();
  };
  const around: MakeInWorld['around'] = ({ clickhouse, lock }) => ({
    lock,
    clickhouse: {
      ...clickhouse,
      // By then the rewind has deleted its rows from ClickHouse, so rows that are inserted now stay there.
      async insert(table, columns, rows) {
        rewinding ??= rewind();
        rewinding.catch(() => undefined);
        await expect.poll(isWaiting).toBe(true);
        await clickhouse.insert(table, columns, rows);
      },
    },
  });
  try {
    await feed?.append(first.slice(0, TIP));
    await world.run();
    await begin(world, config);
    await withMaker(world, { ...config, around }, (maker) => maker.step());
    await rewinding;
    const { rows } = await pool.query<{ beyond: number; priced: number }>(
      `SELECT count(*) FILTER (WHERE tick > priced)::int AS beyond, max(priced)::int AS priced
       FROM reprocessing JOIN prices USING (generation)`,
    );
    expect(rows).toEqual([{ beyond: 0, priced: KEPT - 1 }]);
    await feed?.append(branch);
    await world.run();
    await withMaker(world, config, toTheEnd);
    await serveRanges(straight, [{ regime: 'live', ...EVERYTHING }]);
    await straight.feeds[0]?.append([...first.slice(0, KEPT), ...branch]);
    await straight.run();
    expect(await allRows(world.stores, 2)).toEqual(await allRows(straight.stores));
  } finally {
    await Promise.all([world.close(), straight.close()]);
  }
});
