import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FillReport } from '../../../test/support/infra/event-log/embedded/fill-storage.ts';
import { testRecords } from '../../../test/support/infra/event-log/test-records.ts';
import { createEmbeddedEventLog } from './embedded-event-log.ts';

const FILL = fileURLToPath(new URL('../../../test/support/infra/event-log/embedded/fill-storage.ts', import.meta.url));
const APPEND = fileURLToPath(new URL('../../../test/support/infra/event-log/append-until-killed.ts', import.meta.url));
const ALL = { maxRecords: 1_000_000, maxBytes: 1_000_000_000 };

const code = (expected: string) => expect.objectContaining({ code: expected });

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'verustream-log-'));
  file = join(folder, 'blocks.vrsc.sqlite');
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Runs `use` with a log in the folder. */
async function withLog<T>(use: (log: ReturnType<typeof createEmbeddedEventLog>) => Promise<T>): Promise<T> {
  const log = createEmbeddedEventLog({ folder });
  try {
    return await use(log);
  } finally {
    await log.close();
  }
}

const openAndAppend = (count: number) =>
  withLog(async (log) => {
    const writer = await log.openWriter('blocks', 'vrsc');
    await writer.append(testRecords(writer.next, count));
    return writer.next;
  });

/** Digest of every file that contains records. */
function contents(): Record<string, string> {
  const isWritten = (name: string) => /\.sqlite(-wal)?$/.test(name) && statSync(join(folder, name)).size > 0;
  const names = readdirSync(folder).filter((name) => isWritten(name));
  return Object.fromEntries(
    names.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  );
}

/** Expects that a writer is refused with a message that names the file and the remedy, and that no record file is changed. */
async function expectRefused(message: RegExp): Promise<void> {
  const before = contents();
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const refused = withLog((log) => log.openWriter('blocks', 'vrsc'));
    await expect(refused).rejects.toEqual(code('log_corrupt'));
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toThrow(
      /blocks\.vrsc\.sqlite.*(restore it from a backup.*save the accounts|Run the version)/s,
    );
  }
  expect(contents()).toEqual(before);
}

function flip(path: string, offset: number): void {
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(offset) ^ 0xff, offset);
  writeFileSync(path, bytes);
}

describe('a damaged log file', () => {
  it('that is empty is refused', async () => {
    await openAndAppend(10);
    truncateSync(file);
    await expectRefused(/is empty/);
  });

  it.each([0.99, 0.5, 0.1, 0.01])('that was truncated to %f of its size is refused', async (part) => {
    await openAndAppend(500);
    truncateSync(file, Math.floor(statSync(file).size * part));
    await expectRefused(/damaged|does not match its checksum/);
  });

  it.each([500, 5_000, 12_000, 20_000, 40_000])(
    'that lacks its last %d bytes is complete or reported as damaged',
    async (bytes) => {
      for (let append = 0; append < 5; append += 1) await openAndAppend(400);
      truncateSync(file, statSync(file).size - bytes);
      const found = await withLog((log) => log.read('blocks', 'vrsc', 0, ALL)).catch((error: unknown) => error);
      // The end of the last page may be unused.
      if (bytes < 16_384 && Array.isArray(found)) expect(found).toHaveLength(2000);
      else expect(found).toEqual(code('log_corrupt'));
    },
  );

  it('that is not an SQLite file is refused', async () => {
    await openAndAppend(10);
    copyFileSync(join(folder, 'writer.pid'), file);
    await expectRefused(/damaged/);
    writeFileSync(file, Buffer.alloc(100_000, 'x'));
    await expectRefused(/damaged/);
  });

  it('that is another SQLite file or has another layout is refused', async () => {
    await openAndAppend(10);
    flip(file, 71);
    await expectRefused(/not a log file/);
    flip(file, 71);
    flip(file, 63);
    await expectRefused(/layout \d+; this version reads layouts up to 2/);
  });

  /** Offset in the file of the row that begins with the record at `position`. */
  function offsetOf(position: number): number {
    const database = new DatabaseSync(file, { readOnly: true });
    const row = database.prepare('SELECT payload FROM record WHERE position = ?').get(position);
    database.close();
    return readFileSync(file).indexOf(row?.payload as Uint8Array);
  }

  it('with a flipped byte in the last group is refused at once; in another group, when that is read', async () => {
    for (let group = 0; group < 30; group += 1) await openAndAppend(10);
    flip(file, offsetOf(100) + 40);
    await withLog(async (log) => {
      expect(await log.read('blocks', 'vrsc', 0, { ...ALL, maxRecords: 100 })).toHaveLength(100);
      for (const from of [0, 100, 105]) {
        const damaged = log.read('blocks', 'vrsc', from, ALL);
        await expect(damaged).rejects.toEqual(code('log_corrupt'));
        await expect(damaged).rejects.toThrow(`record 100 of blocks/vrsc in ${file}`);
      }
      expect(await log.read('blocks', 'vrsc', 110, ALL)).toHaveLength(190);
    });
    await openAndAppend(2);
    flip(file, offsetOf(300) + 1);
    await expectRefused(/record 300 of blocks\/vrsc .* does not match its checksum/);
  });

  it.each([
    ['the number of records', 0],
    ['the unpacked bytes', 4],
    ['the content', 20],
  ])('with a flipped bit in %s of a group is refused', async (_, at) => {
    for (let group = 0; group < 3; group += 1) await openAndAppend(10);
    flip(file, offsetOf(10) + at);
    await withLog(async (log) => {
      for (const from of [10, 15])
        await expect(log.read('blocks', 'vrsc', from, ALL)).rejects.toEqual(code('log_corrupt'));
      expect(await log.read('blocks', 'vrsc', 20, ALL)).toHaveLength(10);
    });
  });

  it('whose group has the checksum of a record, or a wrong checksum, is refused', async () => {
    for (let group = 0; group < 3; group += 1) await openAndAppend(10);
    for (const change of ['checksum - 4294967296', 'checksum + 4294967296', 'checksum + 1']) {
      const database = new DatabaseSync(file);
      const { checksum } = database.prepare('SELECT checksum FROM record WHERE position = 10').get() ?? {};
      database.exec(`UPDATE record SET checksum = ${change} WHERE position = 10`);
      await withLog(async (log) => {
        await expect(log.read('blocks', 'vrsc', 0, ALL)).rejects.toEqual(code('log_corrupt'));
      });
      database.exec(`UPDATE record SET checksum = ${Number(checksum)} WHERE position = 10`);
      database.close();
    }
    await withLog(async (log) => expect(await log.read('blocks', 'vrsc', 0, ALL)).toHaveLength(30));
  });

  it('with a number beyond the range of JavaScript numbers is refused, and leaves nothing open', async () => {
    for (let group = 0; group < 3; group += 1) await openAndAppend(10);
    for (const [column, damage] of [
      ['checksum', '9223372036854775807'],
      ['position', '9007199254740993'],
    ]) {
      const database = new DatabaseSync(file);
      const { checksum } = database.prepare('SELECT checksum FROM record WHERE position = 20').get() ?? {};
      database.exec(`UPDATE record SET ${column} = ${damage} WHERE position = 20`);
      const log = createEmbeddedEventLog({ folder });
      await expect(log.read('blocks', 'vrsc', 0, ALL)).rejects.toEqual(code('log_corrupt'));
      await expect(log.last('blocks', 'vrsc')).rejects.toEqual(code('log_corrupt'));
      await log.close();
      database.exec(`UPDATE record SET position = 20, checksum = ${Number(checksum)} WHERE position >= 20`);
      database.close();
    }
    expect(await openAndAppend(1)).toBe(31);
  });

  it('is detected by a writer that lost its position, before it writes into a damaged group', async () => {
    await openAndAppend(10);
    const other = new DatabaseSync(file);
    await withLog(async (log) => {
      const writer = await log.openWriter('blocks', 'vrsc');
      await writer.append(testRecords(10, 10));
      other.exec('BEGIN IMMEDIATE');
      await expect(writer.append(testRecords(20, 10))).rejects.toEqual(code('log_storage_busy'));
      other.exec('ROLLBACK');
      const { payload } = other.prepare('SELECT payload FROM record WHERE position = 10').get() ?? {};
      const damaged = Buffer.from(payload as Uint8Array);
      damaged.writeUInt32LE(5);
      other.prepare('UPDATE record SET payload = ? WHERE position = 10').run(damaged);
      await expect(writer.append(testRecords(20, 10))).rejects.toEqual(code('log_corrupt'));
      await expect(writer.append(testRecords(15, 1))).rejects.toEqual(code('log_corrupt'));
      await expect(log.openWriter('blocks', 'vrsc')).rejects.toEqual(code('log_corrupt'));
      other.prepare('UPDATE record SET payload = ? WHERE position = 10').run(payload as Uint8Array);
      await writer.append(testRecords(20, 10));
      expect(await log.read('blocks', 'vrsc', 0, ALL)).toHaveLength(30);
    });
    other.close();
  });

  it('that lacks a group is reported with the missing record', async () => {
    for (let group = 0; group < 3; group += 1) await openAndAppend(10);
    const database = new DatabaseSync(file);
    database.exec('DELETE FROM record WHERE position = 10');
    database.close();
    await withLog(async (log) => {
      expect(await log.read('blocks', 'vrsc', 0, { ...ALL, maxRecords: 10 })).toHaveLength(10);
      for (const [from, missing] of [
        [0, 10],
        [10, 10],
        [15, 15],
      ]) {
        const gap = log.read('blocks', 'vrsc', from ?? 0, ALL);
        await expect(gap).rejects.toEqual(code('log_gap'));
        await expect(gap).rejects.toThrow(
          `record ${missing} of blocks/vrsc is missing in ${file}; the next one is 20.`,
        );
      }
      expect(await log.read('blocks', 'vrsc', 20, ALL)).toHaveLength(10);
    });
  });
});

describe('a lost end', () => {
  /** Leaves the folder as a killed writer does: the last records are only in the write-ahead log. */
  async function leaveKilled(): Promise<number> {
    const crashed = `${folder}-crashed`;
    const acknowledged = await withLog(async (log) => {
      const writer = await log.openWriter('blocks', 'vrsc');
      for (let i = 0; i < 10; i += 1) await writer.append(testRecords(writer.next, 20));
      cpSync(folder, crashed, { recursive: true });
      return writer.next;
    });
    rmSync(folder, { recursive: true });
    renameSync(crashed, folder);
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(150_000);
    return acknowledged;
  }

  it('of the write-ahead log is detected', async () => {
    const acknowledged = await leaveKilled();
    truncateSync(`${file}-wal`, Math.floor(statSync(`${file}-wal`).size / 2));
    await expectRefused(new RegExp(`records \\d+ to ${acknowledged - 1} .* were acknowledged`));
  });

  it('after a flipped byte of the write-ahead log is detected', async () => {
    await leaveKilled();
    flip(`${file}-wal`, Math.floor(statSync(`${file}-wal`).size / 2));
    await expectRefused(/were acknowledged but are not in/);
  });

  it('of a log file that was replaced by an older copy is detected', async () => {
    await openAndAppend(10);
    const copy = `${folder}-copy`;
    cpSync(folder, copy, { recursive: true });
    await openAndAppend(5);
    copyFileSync(join(copy, 'blocks.vrsc.sqlite'), file);
    await expectRefused(/records 10 to 14 .* were acknowledged/);
    // A copy of the whole folder is a valid backup; a single file of it is not.
    rmSync(folder, { recursive: true });
    cpSync(copy, folder, { recursive: true });
    rmSync(copy, { recursive: true });
    expect(await openAndAppend(1)).toBe(11);
  });

  it('is not reported after a mere kill', async () => {
    const acknowledged = await leaveKilled();
    expect(await openAndAppend(1)).toBe(acknowledged + 1);
  });
});

describe('the lock of the folder', () => {
  it('names the process that holds it, and is free after that process is killed', async () => {
    const holder = spawn(process.execPath, ['--no-warnings', APPEND, JSON.stringify({ folder })]);
    await once(holder.stdout, 'data');
    await withLog(async (log) => {
      const refused = log.openWriter('facts', 'vdex');
      await expect(refused).rejects.toEqual(code('log_writer_fenced'));
      await expect(refused).rejects.toThrow(`another process (pid ${holder.pid}) uses ${folder}`);
      expect(await log.last('blocks', 'vrsc')).not.toBeNull();
      holder.kill('SIGKILL');
      await once(holder, 'exit');
      expect((await log.openWriter('facts', 'vdex')).next).toBe(0);
    });
  });
});

describe('storage that cannot be written', () => {
  function fill(before: readonly string[], options: { uid?: number } = {}): FillReport {
    const ballast = join(folder, 'ballast');
    const [command = '', ...args] = [...before, process.execPath, '--no-warnings', FILL, folder, ballast];
    const { stdout, stderr, status } = spawnSync(command, args, { ...options, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  }

  const mount = ['unshare', '--map-root-user', '--mount', 'sh', '-c'];
  const canMount = spawnSync(mount[0] ?? '', [...mount.slice(1), 'mount -t tmpfs none /tmp']).status === 0;

  it.skipIf(!canMount)(
    'because the disk is full keeps all acknowledged records, and continues once there is space',
    () => {
      const small = 'mount -t tmpfs -o size=4m none "$3" && head -c 1000000 /dev/zero >"$4" && exec "$0" "$@"';
      const report = fill([...mount, small]);
      expect(report.code).toBe('log_storage_full');
      expect(report.message).toContain('blocks.vrsc.sqlite');
      expect(report.acknowledged).toBeGreaterThan(100);
      expect(report.held).toBe(report.acknowledged);
      expect(report.afterwards).toBe(report.acknowledged + 50);
    },
  );

  it('because of missing permissions is reported', async () => {
    await openAndAppend(1);
    const mode = statSync(folder).mode;
    chmodSync(folder, 0o555);
    // Root may write anywhere.
    const report = fill([], process.getuid?.() === 0 ? { uid: 65_534 } : {});
    chmodSync(folder, mode);
    expect(report).toMatchObject({ code: 'log_storage_readonly', acknowledged: 0 });
    expect(report.message).toContain(folder);
    expect(await openAndAppend(1)).toBe(2);
  });
});
