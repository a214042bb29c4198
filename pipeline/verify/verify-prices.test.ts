import { tmpdir } from 'node:os';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordedFile } from '../../test/laws/chain-records.ts';
import { chainConfig, NATIVE } from '../../test/laws/replay.ts';
import { type AuditedWorld, createAuditedWorld } from '../../test/support/pipeline/audit/audited-world.ts';
import { PRICE_TABLES, tableName } from './digest-tables.ts';
import { type VerifiedTable, verify } from './verify.ts';
import type { PriceProgress } from './verify-prices.ts';

/** Up to this block several baskets are launched and traded. */
const TIP = 520;

let world: AuditedWorld;

beforeAll(async () => {
  world = await createAuditedWorld([{ name: 'vrsc', records: recordedFile('blocks.jsonl.gz').slice(0, TIP + 1) }]);
  await world.fold();
}, 300_000);
afterAll(() => world.close());

async function verified(priceProgress?: (progress: PriceProgress) => void): Promise<VerifiedTable[]> {
  const { log, stores, rules } = world;
  const tables: VerifiedTable[] = [];
  const outcomes = verify({
    chains: [{ chain: { ...chainConfig('vrsc'), stableAnchors: rules.stableAnchors }, nativeCurrencyId: NATIVE }],
    log,
    served: stores,
    openFreshStores: () => stores.openScratch(),
    pricing: rules,
    scratch: tmpdir(),
    ...(priceProgress && { priceProgress }),
    logger: pino({ level: 'silent' }),
    signal: new AbortController().signal,
  });
  for await (const table of outcomes) tables.push(table);
  return tables;
}

it('folds prices and stamps again from newly derived facts', async () => {
  const tables = await verified();
  expect(tables.filter(({ equal }) => !equal)).toEqual([]);
  const prices = tables.filter(({ chain }) => chain === '*');
  expect(prices.map(({ table }) => table)).toEqual(PRICE_TABLES.map(tableName));
  for (const { table, height, fresh } of prices) {
    if (table === 'postgres.backfill_prices') continue; // nothing is older than the cutover
    expect({ table, height, rows: fresh.rows > 20 }).toEqual({ table, height: TIP, rows: true });
  }
});

it('reports the progress of the price fold up to the newest tick', async () => {
  const seen: PriceProgress[] = [];
  await verified((progress) => seen.push(progress));
  const { rows } = await world.stores.postgres.pool.query('SELECT max(tick) AS tick FROM price_ticks');
  const lastTick = Number(rows[0]?.tick);
  expect(seen.at(-1)).toMatchObject({ tick: lastTick, lastTick, etaSeconds: 0 });
});

it('ignores what a killed price stage has written to ClickHouse and not committed', async () => {
  const { clickhouse } = world.stores;
  const names = await clickhouse.query(
    "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'prices' AND name <> 'tick'",
  );
  const columns = names.map(({ name }) => String(name)).join(', ');
  await clickhouse.command(`INSERT INTO prices (tick, ${columns}) SELECT tick + 1, ${columns} FROM prices
    WHERE tick = (SELECT max(tick) FROM prices)`);
  expect((await verified()).filter(({ equal }) => !equal)).toEqual([]);
});

it('names the tables that differ from the log', async () => {
  const { postgres, clickhouse } = world.stores;
  await postgres.pool.query(
    `UPDATE stamps SET rule = 'stable_in' WHERE ctid = (SELECT max(ctid) FROM stamps WHERE rule <> 'stable_in')`,
  );
  await clickhouse.command(`ALTER TABLE prices UPDATE ema_price = ema_price + 1 WHERE height = ${TIP - 9}`);
  const different = (await verified()).filter(({ equal }) => !equal);
  expect(different.map(({ chain, table }) => `${chain} ${table}`)).toEqual([
    '* postgres.stamps',
    '* clickhouse.prices',
  ]);
});
