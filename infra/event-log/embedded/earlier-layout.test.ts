import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testRecord, testRecords } from '../../../test/support/infra/event-log/test-records.ts';
import { recordChecksum } from '../checksum.ts';
import type { EventLog } from '../event-log.ts';
import { createEmbeddedEventLog } from './embedded-event-log.ts';

const ALL = { maxRecords: 1_000_000, maxBytes: 1_000_000_000 };

let folder: string;
let file: string;
let opened: EventLog[];

const open = (): EventLog => {
  const log = createEmbeddedEventLog({ folder });
  opened.push(log);
  return log;
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'verustream-log-'));
  file = join(folder, 'blocks.vrsc.sqlite');
  opened = [];
});

afterEach(async () => {
  for (const log of opened) await log.close();
  rmSync(folder, { recursive: true });
});

/** Writes a log as versions up to 0.7 did: each row is a record. */
function writeEarlierLog(count: number): void {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA application_id = ${0x76727573};
    PRAGMA user_version = 1;
    CREATE TABLE record (position INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, payload BLOB NOT NULL) STRICT`);
  const insert = database.prepare("INSERT INTO record VALUES (?, ?, coalesce(?, x''))");
  for (const { position, payload } of testRecords(0, count)) {
    insert.run(position, recordChecksum(position, payload), payload);
  }
  database.close();
}

function layout(): unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  const version = database.prepare('PRAGMA user_version').get()?.user_version;
  database.close();
  return version;
}

const read = async (log: EventLog, from = 0) =>
  (await log.read('blocks', 'vrsc', from, ALL)).map(({ position, payload }) => ({
    position,
    payload: Buffer.from(payload),
  }));

const written = (from: number, count: number) =>
  testRecords(from, count).map(({ position, payload }) => ({ position, payload: Buffer.from(payload) }));

describe('a log file of the earlier layout', () => {
  it('is read without being changed', async () => {
    writeEarlierLog(40);
    const log = open();
    expect(await read(log)).toEqual(written(0, 40));
    expect(await read(log, 17)).toEqual(written(17, 23));
    expect((await log.last('blocks', 'vrsc'))?.position).toBe(39);
    expect(layout()).toBe(1);
  });

  it('is continued with groups, while its own rows stay', async () => {
    writeEarlierLog(40);
    const log = open();
    const writer = await log.openWriter('blocks', 'vrsc');
    expect(writer.next).toBe(40);
    expect(layout()).toBe(2);
    await writer.append(testRecords(35, 30));
    await writer.append([testRecord(65)]);
    for (const from of [0, 39, 40, 41, 64, 65]) expect(await read(log, from)).toEqual(written(from, 66 - from));
    const database = new DatabaseSync(file, { readOnly: true });
    const rows = database.prepare('SELECT position FROM record ORDER BY position DESC LIMIT 3').all();
    database.close();
    expect(rows.map(({ position }) => position)).toEqual([65, 40, 39]);
  });

  it.runIf(existsSync('/proc/self/io'))('is not read completely before it is continued', async () => {
    writeEarlierLog(4_000);
    const size = statSync(file).size;
    expect(size).toBeGreaterThan(4_000_000);
    const readSoFar = () => Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
    const before = readSoFar();
    await (await open().openWriter('blocks', 'vrsc')).append([testRecord(4_000)]);
    expect(readSoFar() - before).toBeLessThan(size / 4);
  });

  it('stays readable for a process that opened it before it was continued', async () => {
    writeEarlierLog(40);
    const reader = open();
    expect(await read(reader)).toEqual(written(0, 40));
    expect((await reader.last('blocks', 'vrsc'))?.position).toBe(39);
    await reader.waitFor('blocks', 'vrsc', 39, 20_000);
    const writer = await open().openWriter('blocks', 'vrsc');
    await writer.append(testRecords(40, 20));
    expect((await reader.last('blocks', 'vrsc'))?.position).toBe(59);
    const waited = reader.waitFor('blocks', 'vrsc', 59, 20_000);
    await writer.append([testRecord(60)]);
    await waited;
    expect(await read(reader, 30)).toEqual(written(30, 31));
  });
});
