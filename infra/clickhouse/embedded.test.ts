import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClickHouse } from './clickhouse.ts';
import { openEmbeddedClickHouse } from './embedded.ts';

describe('the embedded engine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'verustream-clickhouse-'));
  let clickhouse: ClickHouse;

  beforeAll(async () => {
    clickhouse = await openEmbeddedClickHouse(folder);
    await clickhouse.command('CREATE TABLE numbers (n UInt64) ENGINE = MergeTree ORDER BY n');
  });

  afterAll(async () => {
    await clickhouse.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('does not count failed inserts as running', async () => {
    const inserts = Array.from({ length: 8 }, () => clickhouse.insert('numbers', ['n'], [['no number']]));
    for (const { status } of await Promise.allSettled(inserts)) expect(status).toBe('rejected');
    expect(await clickhouse.query("SELECT query FROM system.processes WHERE query_kind = 'Insert'")).toEqual([]);
  });

  it('tells a refusal and what passes by type, and other errors as they are', async () => {
    const numbers = (settings: string) => clickhouse.query(`SELECT sum(number) FROM numbers(1e9) SETTINGS ${settings}`);
    await expect(numbers('max_execution_time = 0.001')).rejects.toMatchObject({ code: 'clickhouse_overloaded' });
    await expect(clickhouse.query('SELECT * FROM nowhere.table')).rejects.toMatchObject({ code: 'clickhouse_refused' });
    await expect(clickhouse.query('SELECT 1 +')).rejects.toMatchObject({ code: '47' });
  });

  it('opens what a full disk left of a delete', async () => {
    await clickhouse.insert('numbers', ['n'], [[1], [2]]);
    const [table] = await clickhouse.query<{ data_paths: string[] }>(
      "SELECT data_paths FROM system.tables WHERE name = 'numbers' AND database = currentDatabase()",
    );
    await clickhouse.close();
    writeFileSync(join(table?.data_paths[0] ?? '', 'mutation_99.txt'), '');
    clickhouse = await openEmbeddedClickHouse(folder);
    expect(await clickhouse.query('SELECT n FROM numbers ORDER BY n')).toEqual([{ n: '1' }, { n: '2' }]);
  });
});
