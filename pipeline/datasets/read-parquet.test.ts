import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import { openEmbeddedClickHouse } from '../../infra/clickhouse/embedded.ts';
import { readParquet } from './read-parquet.ts';

let folder: string;
let clickhouse: ClickHouse;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verustream-read-parquet-'));
  clickhouse = await openEmbeddedClickHouse(join(folder, 'engine'));
});
afterAll(async () => {
  await clickhouse?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Makes a file with rows of 32 random bytes, which compression does not shrink. */
async function made(rows: number): Promise<string> {
  const file = join(folder, `${rows}.parquet`);
  const select = () => `SELECT toUInt32(1000 + number) AS height, randomFixedString(32) AS noise FROM numbers(${rows})`;
  await clickhouse.parquet({ select, file, bounds: { max_threads: 1 } });
  return file;
}

it.each([1, 3_000, 7_500, 9_000, 50_000, 2_000_000])('a file of %i rows', async (rows) => {
  const file = await made(rows);
  const bytes = await readFile(file);
  expect(await readParquet(file)).toEqual({
    rows,
    minHeight: 1000,
    maxHeight: 999 + rows,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  });
});

it('a truncated file is an error', async () => {
  const bytes = await readFile(await made(8_000));
  for (const length of [0, 7, 100, bytes.length - 1]) {
    const file = join(folder, `of-${length}.parquet`);
    await writeFile(file, bytes.subarray(0, length));
    await expect(readParquet(file), `${length} bytes`).rejects.toThrow();
  }
});
