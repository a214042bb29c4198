/** Applies the numbered files of schemas/clickhouse once each, in order. A file that has landed is never edited. */
import { missingMigrations } from '../migrations.ts';
import { columns, rowReader } from '../row-reader.ts';
import type { ClickHouse } from './clickhouse.ts';
import { ClickHouseOverloaded } from './clickhouse-errors.ts';

const ROOM_BYTES = 16 << 20;

const readMigration = rowReader({ name: columns.text, sha256: columns.text });
const readDisk = rowReader({ free: columns.text });

export async function migrateClickHouse(clickhouse: ClickHouse): Promise<void> {
  await clickhouse.command(
    'CREATE TABLE IF NOT EXISTS migrations (name String, sha256 String) ENGINE = MergeTree ORDER BY name',
  );
  const rows = await clickhouse.rows(readMigration, 'SELECT name, sha256 FROM migrations');
  for (const { name, sql, sha256 } of await missingMigrations('clickhouse', rows)) {
    await checkRoom(clickhouse);
    for (const statement of statements(sql)) await clickhouse.command(statement);
    await clickhouse.insert('migrations', ['name', 'sha256'], [[name, sha256]]);
  }
}

/** Returns the free bytes of the disk that has the least; NaN if there is no disk. */
export async function freeSpace(clickhouse: ClickHouse): Promise<number> {
  const [disk] = await clickhouse.rows(readDisk, 'SELECT min(unreserved_space) AS free FROM system.disks');
  return Number(disk?.free);
}

/** On a full disk the embedded engine replaces a table's definition with an empty file. A server may forbid reading the free space. */
async function checkRoom(clickhouse: ClickHouse): Promise<void> {
  const free = await freeSpace(clickhouse).catch(() => null);
  if (free !== null && free < ROOM_BYTES) {
    throw new ClickHouseOverloaded('ClickHouse has not enough space on its disk to change its tables', undefined);
  }
}

/** A crash between two statements leaves the file unrecorded, so each must be repeatable: CREATE TABLE gets IF NOT EXISTS. */
function statements(sql: string): string[] {
  return sql
    .replace(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim().replace(/^CREATE TABLE (?!IF NOT EXISTS)/, 'CREATE TABLE IF NOT EXISTS '))
    .filter(Boolean);
}
