/** The data set after reorganisations, redrives and swaps of generations: equal to the stores, and consistent at any moment. */

import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run as redrive } from '../../commands/dead-letters/redrive.ts';
import { run as reprocess } from '../../commands/reprocess.ts';
import { exportDatasets } from '../../pipeline/datasets/export-datasets.ts';
import { openLocalFolder } from '../../pipeline/datasets/folder.ts';
import { GRACE_MS } from '../../pipeline/datasets/notes.ts';
import { ALONE } from '../../pipeline/datasets/pace.ts';
import { changingKey } from '../../pipeline/stage/stage-lock.ts';
import type { DatasetDay } from '../../schemas/datasets/manifest.ts';
import type { DatasetTable } from '../../schemas/datasets/table.ts';
import { DATASET_TABLES } from '../../schemas/datasets/tables.ts';
import { CHAIN } from '../api/running-service.ts';
import { recordedBranches } from '../laws/chain-records.ts';
import { collectedOutput } from '../support/commands/collected-output.ts';
import { checkFolder, countRows, readManifest, rowsOf } from '../support/datasets/check-folder.ts';
import { type DuckDb, openDuckDb } from '../support/datasets/duckdb.ts';
import { type ExportedService, startExportedService } from './exported-service.ts';

const { orphans, fork } = recordedBranches();
const silent = collectedOutput().output;
let service: ExportedService;
let duckdb: DuckDb;
/** Stops watching the folder; rejects with the first fault that was found. */
let endLooking: () => Promise<number>;

beforeAll(async () => {
  service = await startExportedService({ startHeight: fork - 2 });
  duckdb = await openDuckDb();
  await service.settled(true);
  endLooking = looking();
});
afterAll(async () => {
  duckdb?.close();
  await service?.stop();
});

/** A reader that checks the folder all the time. A file that is gone after its manifest was read is a fault too: it must stay for a while. */
function looking(): () => Promise<number> {
  let isEnded = false;
  const looks = (async () => {
    let count = 0;
    while (!isEnded) {
      await checkFolder(service.folder);
      count++;
      await sleep(100);
    }
    return count;
  })();
  looks.catch(() => undefined);
  return () => {
    isEnded = true;
    return looks;
  };
}

async function storedCounts(): Promise<Record<string, number>> {
  const { clickhouse, postgres } = service.stores;
  const counts: Record<string, number> = {};
  for (const table of DATASET_TABLES) {
    if (table.store === 'postgres') {
      const { rows } = await postgres.pool.query<{ n: bigint }>(
        `SELECT count(*) AS n FROM ${table.table} r WHERE ${table.where}`,
      );
      counts[table.name] = Number(rows[0]?.n);
    } else {
      const served = table.store === 'prices' ? `WHERE generation = ${await servedGeneration()}` : '';
      const [row] = await clickhouse.query(`SELECT count() AS n FROM ${table.table} ${served}`);
      counts[table.name] = Number(row?.n);
    }
  }
  return counts;
}

async function servedGeneration(): Promise<number> {
  const { rows } = await service.stores.postgres.pool.query<{ generation: number }>(
    'SELECT generation FROM generations WHERE served',
  );
  return rows[0]?.generation ?? 0;
}

async function equalsTheStores(): Promise<void> {
  const { missed } = await service.exported();
  expect(missed).toBe(0);
  const counts: Record<string, number> = {};
  for (const { name } of DATASET_TABLES) counts[name] = await countRows(duckdb, service.folder, name);
  expect(counts).toEqual(await storedCounts());
  const sums = await duckdb.rows(
    `SELECT sum(received) AS received, sum(sent) AS sent FROM ${await rowsOf(service.folder, 'balance_deltas')}`,
  );
  expect(sums).toEqual(
    await service.stores.clickhouse.query(
      'SELECT toString(sum(received)) AS received, toString(sum(sent)) AS sent FROM address_deltas',
    ),
  );
}

const hashAt = async (height: number): Promise<unknown> => {
  const [row] = await duckdb.rows(
    `SELECT hash FROM ${await rowsOf(service.folder, 'blocks')} WHERE height = ${height}`,
  );
  return row?.hash;
};

it('a reorganisation replaces rows of the open day', async () => {
  while (service.node.hash !== orphans.at(-1)?.hash) service.node.step();
  await service.settled(true);
  await equalsTheStores();
  const [orphan] = orphans;
  expect(await hashAt(orphan?.height ?? 0)).toBe(orphan?.hash);
  while (service.node.height <= fork + orphans.length) service.node.step();
  await service.settled(true);
  await equalsTheStores();
  expect(await hashAt(orphan?.height ?? 0)).not.toBe(orphan?.hash);
});

it('a rewind that is in ClickHouse but not committed in Postgres shows in no file', async () => {
  const { postgres, clickhouse } = service.stores;
  const before = await readManifest(service.folder, 'transactions');
  const client = await postgres.pool.connect();
  try {
    // Like a rewind: takes its lock, removes the rows of ClickHouse, then would commit.
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [changingKey('derive', CHAIN)]);
    const tip = { tip: service.node.height };
    const kept = 'SELECT * FROM transactions WHERE height = {tip:UInt32}';
    await clickhouse.command(
      'CREATE TABLE kept_rows ENGINE = MergeTree ORDER BY tuple() AS SELECT * FROM transactions LIMIT 0',
    );
    await clickhouse.command(`INSERT INTO kept_rows ${kept}`, tip);
    await clickhouse.command('DELETE FROM transactions WHERE height = {tip:UInt32}', tip);
    // Changed so that the files of its open days are written again.
    const path = join(service.folder, 'notes/transactions.json');
    const notes = JSON.parse(await readFile(path, 'utf8')) as { days: DatasetDay[] };
    const days = notes.days.map((day) => (day.file?.closed ? day : { ...day, basis: `other ${day.basis}` }));
    await writeFile(path, JSON.stringify({ ...notes, days }));
    expect((await service.exported()).missed).toBeGreaterThan(0);
    expect(await readManifest(service.folder, 'transactions')).toEqual(before);
    await clickhouse.command('INSERT INTO transactions SELECT * FROM kept_rows');
    await clickhouse.command('DROP TABLE kept_rows');
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
  await equalsTheStores();
});

it('a closed day keeps its file while the chain grows', async () => {
  service.node.advanceTo(service.node.tip);
  await service.settled(true);
  await equalsTheStores();
  // The sums of whole days, which show that no stamp changes any more, arrive with a later batch.
  await expect
    .poll(
      async () => {
        await service.exported();
        return (await readManifest(service.folder, 'conversions')).map(({ closed }) => closed);
      },
      { timeout: 60_000 },
    )
    .toEqual([true]);
  const closed = (await readManifest(service.folder, 'blocks')).filter((file) => file.closed);
  expect(closed.length).toBeGreaterThan(0);
  const again = await service.exported();
  expect(again.tables.map(({ written }) => written)).toEqual(again.tables.map(() => 0));
});

it('a redrive leaves the same rows, and the same files, because names contain the hash of the content', async () => {
  const before = await readManifest(service.folder, 'transfers');
  await redrive(service.context, { chain: 'vrsc', height: '700' }, silent);
  await service.settled(true);
  await equalsTheStores();
  const after = await readManifest(service.folder, 'transfers');
  expect(after.map(({ path }) => path)).toEqual(before.map(({ path }) => path));
});

it('rows contain the other generation too, and a swap exchanges all files at once', async () => {
  const live = await readManifest(service.folder, 'conversions');
  expect(await reprocess(service.context, { regime: 'backfill' }, silent)).toMatchObject({ exitCode: 0 });
  await equalsTheStores();
  const rows = async () =>
    duckdb.rows(
      `SELECT txid, vout, usd_value AS own, other_usd_value AS other, regime, other_regime FROM ${await rowsOf(service.folder, 'conversions')} ORDER BY txid, vout`,
    );
  const before = await rows();
  expect(new Set(before.map(({ regime, other_regime }) => `${regime} ${other_regime}`))).toEqual(
    new Set(['live backfill']),
  );
  expect(before.some(({ own, other }) => own !== other)).toBe(true);
  await reprocess(service.context, { swap: true }, silent);
  await equalsTheStores();
  const after = await rows();
  expect(after.map(({ own, other }) => [other, own])).toEqual(before.map(({ own, other }) => [own, other]));
  const swapped = await readManifest(service.folder, 'conversions');
  expect(swapped.map(({ generation }) => generation)).toEqual(live.map(() => 2));
});

it('new columns: every file is written again under a new name, and until then the manifest names the old files', async () => {
  const { stores, config } = service.context;
  const folder = await openLocalFolder(join(service.folder, 'columns'));
  const [table] = DATASET_TABLES.filter(({ name }) => name === 'blocks') as [DatasetTable];
  const before = { ...table, columns: table.columns.slice(0, -1) } as DatasetTable;
  const pass = (of: DatasetTable, stop = new AbortController(), after = Number.POSITIVE_INFINITY) =>
    exportDatasets({
      ...{
        stores,
        chains: config.chains,
        tables: [of],
        folder,
        pace: { ...ALONE, atOnce: 1, meanwhile: 0 },
        graceMs: GRACE_MS,
      },
      signal: stop.signal,
      progress: ({ done }) => done === after && stop.abort(new Error('stopped')),
    });
  const named = async () => (await readManifest(folder.name, 'blocks')).map(({ path }) => path);
  await pass(before);
  const old = await named();
  expect(old.length).toBeGreaterThan(1);
  await expect(pass(table, new AbortController(), 1)).rejects.toThrow('stopped');
  expect(await named()).toEqual(old);
  await checkFolder(folder.name);
  expect((await pass(table)).tables).toMatchObject([{ written: old.length - 1 }]);
  const now = await named();
  expect(now.length).toBe(old.length);
  expect(now.filter((path) => old.includes(path))).toEqual([]);
  for (const path of old) expect(existsSync(join(folder.name, path)), path).toBe(true);
  const names = (await duckdb.rows(`DESCRIBE SELECT * FROM ${await rowsOf(folder.name, 'blocks')}`)).map(
    ({ column_name: name }) => name,
  );
  expect(names).toEqual(table.columns.map(({ name }) => name));
});

it('at every moment all files were complete and all manifests correct', async () => {
  expect(await endLooking()).toBeGreaterThan(20);
});
