/** The embedded engine and a server (here a facade over the engine) write the same Parquet bytes for the same rows. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ClickHouseFacade, startClickHouseFacade } from '../../test/support/infra/clickhouse/start-facade.ts';
import type { ClickHouse } from './clickhouse.ts';
import { openEmbeddedClickHouse } from './embedded.ts';
import type { ParquetWrite } from './parquet.ts';
import { connectClickHouse } from './server.ts';

let folder: string;
let facade: ClickHouseFacade;
let here: ClickHouse;
let there: ClickHouse;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verustream-parquet-'));
  facade = await startClickHouseFacade(join(folder, 'there'));
  there = await connectClickHouse(facade.url, pino({ level: 'silent' }));
  here = await openEmbeddedClickHouse(join(folder, 'here'));
});
afterAll(async () => {
  await here?.close();
  await there?.close();
  await facade?.stop();
  await rm(folder, { recursive: true, force: true });
});

const bounds = { max_threads: 1, max_execution_time: 60 };

/** The content of the file, as the embedded engine and as the server writes it. */
async function both(write: Pick<ParquetWrite, 'select' | 'csv' | 'params'>): Promise<Buffer[]> {
  const files = [];
  for (const [name, clickhouse] of Object.entries({ here, there })) {
    const file = join(folder, `${name}-${Math.random()}.parquet`);
    await clickhouse.parquet({ ...write, file, bounds });
    files.push(await readFile(file));
  }
  return files;
}

it('writes rows of a table, with parameters', async () => {
  const [own, served] = await both({
    select: () => `SELECT number AS height, toString(number) AS name FROM numbers({count:UInt32}) ORDER BY number`,
    params: { count: 1000 },
  });
  expect(own?.subarray(0, 4).toString()).toBe('PAR1');
  expect(served?.equals(own ?? Buffer.alloc(0))).toBe(true);
});

it('writes rows of a CSV file, with nulls, empty texts and quoted characters, and leaves no table', async () => {
  const csv = join(folder, 'rows.csv');
  await writeFile(csv, '1,"",\\N,"a ""b"", c"\n2,x,5,"line\nbreak \\ end"\n');
  const structure = 'n UInt32, text String, optional Nullable(Int64), quoted String';
  const [own, served] = await both({
    select: (rows) => `SELECT n, text, optional, quoted FROM ${rows} ORDER BY n`,
    csv: { file: csv, structure },
  });
  expect(served?.equals(own ?? Buffer.alloc(0))).toBe(true);
  const file = join(folder, 'read.parquet');
  await writeFile(file, own ?? '');
  expect(await here.query(`SELECT * FROM file('${file}', 'Parquet')`)).toEqual([
    { n: 1, text: '', optional: null, quoted: 'a "b", c' },
    { n: 2, text: 'x', optional: '5', quoted: 'line\nbreak \\ end' },
  ]);
  expect(await there.query(`SELECT name FROM system.tables WHERE startsWith(name, 'dataset_rows_')`)).toEqual([]);
});

it('rejects with the error of a statement that fails', async () => {
  for (const clickhouse of [here, there]) {
    const write = { select: () => 'SELECT nothing FROM nowhere', file: join(folder, 'failed.parquet'), bounds };
    await expect(clickhouse.parquet(write)).rejects.toThrow(/nowhere|nothing/);
  }
});

it('lends rows of several files to other statements, and leaves no table', async () => {
  const csv = { file: join(folder, 'lent.csv'), structure: 'n UInt32, text Nullable(String)' };
  await writeFile(csv.file, '1,a\n2,\\N\n');
  for (const clickhouse of [here, there]) {
    const rows = await clickhouse.withCsv([csv, csv], ([first, second]) =>
      clickhouse.query(`SELECT n, l.text AS text FROM ${first} AS l JOIN ${second} AS r USING (n) ORDER BY n`),
    );
    expect(rows).toEqual([
      { n: 1, text: 'a' },
      { n: 2, text: null },
    ]);
    await expect(clickhouse.withCsv([csv], () => Promise.reject(new Error('stopped')))).rejects.toThrow('stopped');
    expect(await clickhouse.query(`SELECT name FROM system.tables WHERE startsWith(name, 'dataset_rows_')`)).toEqual(
      [],
    );
  }
});

it('drops the tables that a killed process left, and no others', async () => {
  const csv = { file: join(folder, 'left.csv'), structure: 'n UInt32' };
  await writeFile(csv.file, '1\n');
  const names = async () =>
    (await there.query('SELECT name FROM system.tables WHERE database = currentDatabase()')).map(({ name }) => name);
  const [young = '', ...others] = await there.withCsv([csv], async ([own = '']) => {
    const made = Number(/_(\d+)_/.exec(own)?.[1]);
    const aged = (hours: number) => own.replace(String(made), String(made - hours * 3600));
    const [lent, old] = [aged(5), aged(7)];
    const foreign = [`${old}_of_others`, 'dataset_rows_mine'];
    for (const table of [lent, old, ...foreign])
      await there.command(`CREATE TABLE ${table} (n UInt32) ENGINE = MergeTree ORDER BY n`);
    await there.withCsv([csv], async () => {
      expect(await names()).toEqual(expect.arrayContaining([own, lent, ...foreign]));
      expect(await names()).not.toContain(old);
    });
    return [lent, ...foreign];
  });
  expect((await names()).toSorted()).toEqual([young, ...others].toSorted());
  for (const table of [young, ...others]) await there.command(`DROP TABLE ${table}`);
});
