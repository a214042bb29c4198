import { existsSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRandom } from '../../recordings/player/faults.ts';
import { SEED } from '../../test/setup/seed.ts';
import { engineProcesses } from '../../test/support/infra/clickhouse/engine-processes.ts';
import { columns, rowReader } from '../row-reader.ts';
import type { ClickHouse } from './clickhouse.ts';
import { openEmbeddedClickHouse } from './embedded.ts';
import { openRunningEngine } from './running-engine.ts';

const KILLS = 12;
const LONGEST_PAUSE_MS = 800;

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

  it('flushes an insert to the disk before it succeeds', async () => {
    const sql =
      "SELECT name, value FROM system.merge_tree_settings WHERE name IN ('fsync_after_insert', 'fsync_part_directory')";
    const settings = await clickhouse.query(sql);
    expect(settings.map(({ name, value }) => `${name} ${value}`).sort()).toEqual([
      'fsync_after_insert 1',
      'fsync_part_directory 1',
    ]);
  });

  it('does not count failed inserts as running', async () => {
    const inserts = Array.from({ length: 8 }, () => clickhouse.insert('numbers', ['n'], [['no number']]));
    for (const { status } of await Promise.allSettled(inserts)) expect(status).toBe('rejected');
    expect(await clickhouse.query("SELECT query FROM system.processes WHERE query_kind = 'Insert'")).toEqual([]);
  });

  it('translates refusals and transient errors, and passes other errors on unchanged', async () => {
    const slow = clickhouse.query('SELECT sum(number) FROM numbers(1e9)', {}, { max_execution_time: 0.001 });
    await expect(slow).rejects.toMatchObject({ code: 'clickhouse_overloaded' });
    await expect(clickhouse.query('SELECT * FROM nowhere.table')).rejects.toMatchObject({ code: 'clickhouse_refused' });
    await expect(clickhouse.query('SELECT 1 +')).rejects.toMatchObject({ code: '47' });
  });

  it('applies bounds to one statement only, not to later ones on its connection', async () => {
    const rows = (bounds?: Record<string, number>) =>
      clickhouse.query('SELECT number FROM numbers(3) UNION ALL SELECT number FROM numbers(3)', {}, bounds);
    for (let connection = 0; connection < 8; connection++) {
      await expect(rows({ max_result_rows: 5 })).rejects.toMatchObject({ code: '396' });
      expect(await rows()).toHaveLength(6);
    }
  });

  it('opens a folder with the empty files that a full disk leaves of a delete, a new table and a new database', async () => {
    await clickhouse.insert('numbers', ['n'], [[1], [2]]);
    const [table] = await clickhouse.rows(
      rowReader({ data_paths: columns.texts, metadata_path: columns.text }),
      "SELECT data_paths, metadata_path FROM system.tables WHERE name = 'numbers' AND database = currentDatabase()",
    );
    await clickhouse.close();
    writeFileSync(join(table?.data_paths[0] ?? '', 'mutation_99.txt'), '');
    writeFileSync(join(folder, dirname(table?.metadata_path ?? ''), 'other.sql'), '');
    writeFileSync(join(folder, 'metadata/other.sql'), '');
    clickhouse = await openEmbeddedClickHouse(folder);
    expect(await clickhouse.query('SELECT n FROM numbers ORDER BY n')).toEqual([{ n: '1' }, { n: '2' }]);
  });
});

describe('the process of the engine', () => {
  let folder: string;
  let said: string[];
  let clickhouse: ClickHouse;

  let before: number[];
  const engine = (): number => engineProcesses(process.pid).find((pid) => !before.includes(pid)) ?? 0;
  const numbers = async () => (await clickhouse.query('SELECT n FROM numbers ORDER BY n')).map(({ n }) => Number(n));

  beforeEach(async () => {
    before = engineProcesses(process.pid);
    folder = mkdtempSync(join(tmpdir(), 'verustream-clickhouse-'));
    said = [];
    const logger = pino({ level: 'warn' }, { write: (line: string) => void said.push(JSON.parse(line).msg) });
    clickhouse = await openEmbeddedClickHouse(folder, 'verustream', logger);
    await clickhouse.command('CREATE TABLE numbers (n UInt64) ENGINE = MergeTree ORDER BY n');
  });

  afterEach(async () => {
    await clickhouse.close();
    rmSync(folder, { recursive: true, force: true });
    await expect.poll(engine, { message: 'it ends with the last connection' }).toBe(0);
  });

  it('is started again when it is killed: running statements fail, acknowledged rows are kept', async () => {
    for (let round = 1; round <= 3; round++) {
      await clickhouse.insert('numbers', ['n'], [[round]]);
      const killed = engine();
      const underWay = [
        clickhouse.query('SELECT sleepEachRow(1) FROM numbers(60) SETTINGS max_block_size = 1'),
        clickhouse.command(
          'INSERT INTO numbers SELECT 1000 + number FROM numbers(60) WHERE sleepEachRow(1) = 0 SETTINGS max_block_size = 1',
        ),
        clickhouse.query('SELECT sleepEachRow({seconds:Float32}) FROM numbers(60) SETTINGS max_block_size = 1', {
          seconds: 1,
        }),
      ];
      const outcomes = Promise.allSettled(underWay);
      await sleep(300); // they have begun
      process.kill(killed, 'SIGKILL');
      for (const outcome of await outcomes) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'clickhouse_unreachable' } });
      }
      expect(await numbers()).toEqual(Array.from({ length: round }, (_, i) => i + 1));
      expect(engine()).not.toBe(killed);
    }
    expect(said.filter((line) => /ended unexpectedly \(SIGKILL\)/.test(line))).toHaveLength(3);
    expect(said.filter((line) => /runs again/.test(line))).toHaveLength(3);
  });

  it('is started again without any request', async () => {
    const killed = engine();
    process.kill(killed, 'SIGKILL');
    await expect.poll(() => [0, killed].includes(engine())).toBe(false);
    await expect.poll(() => said.at(-1)).toMatch(/runs again/);
  });

  it('is started again when it is killed during a restart', async () => {
    await clickhouse.close();
    let kills = 3;
    const running = await openRunningEngine({
      path: folder,
      logger: pino({ level: 'error' }, { write: (line: string) => void said.push(JSON.parse(line).msg) }),
      inserts: 'unknown',
      async onStartedAgain() {
        if (kills === 0) return;
        kills--;
        said = [];
        process.kill(engine(), 'SIGKILL');
        await expect.poll(() => said.at(-1)).toMatch(/ended unexpectedly/);
      },
    });
    process.kill(engine(), 'SIGKILL');
    await expect.poll(() => running.during(async () => kills).catch(String)).toBe(0);
    expect(engine()).toBeGreaterThan(0);
    await running.close();
    clickhouse = await openEmbeddedClickHouse(folder);
  });

  it('is restarted for lost writes although a statement runs on: by then the sources of a broken merge could be gone', async () => {
    await clickhouse.close();
    const onStartedAgain = async () => undefined;
    const options = { path: folder, logger: undefined, inserts: 'unknown', drainMs: 300, onStartedAgain } as const;
    const running = await openRunningEngine(options);
    const client = await running.during(() => running.connect('verustream'));
    const query = 'SELECT sleepEachRow(1) FROM numbers(25) SETTINGS max_block_size = 1';
    const slow = expect(running.during(() => client.query({ query }))).rejects.toMatchObject({
      code: 'clickhouse_unreachable',
    });
    await running.during(() => running.command("INSERT INTO FUNCTION file('/dev/full', 'CSV', 'n UInt8') SELECT 1"));
    await expect(running.checkWrites()).rejects.toMatchObject({ code: 'clickhouse_overloaded' });
    await running.during(async () => undefined);
    await slow;
    await running.during(() => running.checkWrites());
    await running.close();
    clickhouse = await openEmbeddedClickHouse(folder);
  });

  it('is started again whenever it is killed, even in the middle of a start', async () => {
    const random = createRandom(SEED);
    for (let kill = 1; kill <= KILLS; kill++) {
      await sleep(random() * LONGEST_PAUSE_MS);
      const killed = engine();
      if (killed > 0) process.kill(killed, 'SIGKILL');
      if (random() < 0.5) clickhouse.query('SELECT 1').catch(() => undefined);
    }
    await expect.poll(() => numbers().catch(String)).toEqual([]);
  });

  it('closes after its running statements, does not count as broken, and leaves no process', async () => {
    const beside = await openEmbeddedClickHouse(folder, 'beside');
    const slow = [beside, clickhouse].map((each) => each.query('SELECT sleep(1)'));
    const outcomes = Promise.allSettled(slow);
    await sleep(200); // they have begun
    await beside.close();
    expect(await clickhouse.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await clickhouse.close();
    expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(engine()).toBe(0);
    expect(existsSync(join(folder, 'closed'))).toBe(true);
    await sleep(LONGEST_PAUSE_MS);
    expect([engine(), said]).toEqual([0, []]);
    clickhouse = await openEmbeddedClickHouse(folder);
  });

  it('ignores signals to the whole group of the program', async () => {
    const pid = engine();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal);
    await clickhouse.insert('numbers', ['n'], [[1]]);
    expect(await numbers()).toEqual([1]);
    expect(engine()).toBe(pid);
  });
});

describe('a disk that loses writes of the embedded engine', () => {
  let folder: string;
  let said: string[];
  let clickhouse: ClickHouse;

  const logger = pino({ level: 'warn' }, { write: (line: string) => void said.push(JSON.parse(line).msg) });
  const open = async () => {
    clickhouse = await openEmbeddedClickHouse(folder, 'verustream', logger);
  };
  const numbers = async () => (await clickhouse.query('SELECT n FROM numbers ORDER BY n')).map(({ n }) => n);
  /** The engine itself reports success for this statement. */
  const loseWrite = () => clickhouse.command("INSERT INTO FUNCTION file('/dev/full', 'CSV', 'n UInt8') SELECT 1");

  async function pathOf(part: string): Promise<string> {
    const [row] = await clickhouse.rows(
      rowReader({ path: columns.text }),
      "SELECT path FROM system.parts WHERE table = 'numbers' AND database = currentDatabase() AND name = {part:String}",
      { part },
    );
    return row?.path ?? '';
  }

  /** Leaves a part as a full disk does. */
  async function empty(part: string): Promise<void> {
    const path = await pathOf(part);
    for (const file of ['data.cmrk4', 'checksums.txt']) truncateSync(join(path, file), 0);
  }

  async function killed(): Promise<void> {
    await clickhouse.close();
    rmSync(join(folder, 'closed'));
  }

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'verustream-clickhouse-'));
    said = [];
    await open();
    await clickhouse.command('CREATE TABLE numbers (n UInt64) ENGINE = MergeTree ORDER BY n');
    await clickhouse.insert('numbers', ['n'], [[1]]);
    await clickhouse.insert('numbers', ['n'], [[2]]);
  });

  afterEach(async () => {
    await clickhouse.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('a lost write fails, and the parts that it may have broken, by a merge or an insert, are restored', async () => {
    await clickhouse.command('OPTIMIZE TABLE numbers FINAL');
    await empty('all_1_2_1');
    await clickhouse.insert('numbers', ['n'], [[3]]);
    await empty('all_3_3_0');
    await expect(loseWrite()).rejects.toMatchObject({
      code: 'clickhouse_overloaded',
      message: expect.stringMatching('disk'),
    });
    expect(await numbers()).toEqual(['1', '2']);
    expect(said).toEqual([expect.stringMatching(/lost writes.*reopened/)]);
    await clickhouse.insert('numbers', ['n'], [[3]]);
    expect(await numbers()).toEqual(['1', '2', '3']);
  });

  it('statements wait while it is reopened, and other databases stay usable', async () => {
    const beside = await openEmbeddedClickHouse(folder, 'beside');
    const slow = beside.query('SELECT sleep(0.5)');
    await expect(loseWrite()).rejects.toMatchObject({ code: 'clickhouse_overloaded' });
    const asked = await Promise.all([numbers(), slow, beside.query('SELECT currentDatabase() AS d')]);
    expect(asked).toEqual([['1', '2'], [expect.anything()], [{ d: 'beside' }]]);
    await beside.close();
  });

  it('after a kill, the source parts of a broken part replace it', async () => {
    await clickhouse.command('OPTIMIZE TABLE numbers FINAL');
    await empty('all_1_2_1');
    await killed();
    await open();
    expect(await numbers()).toEqual(['1', '2']);
    expect(said).toEqual([]);
  });

  it('after a kill, an insert that was not written is gone and reported once', async () => {
    await empty('all_2_2_0');
    await killed();
    await open();
    expect(await numbers()).toEqual(['1']);
    expect(said).toEqual([expect.stringMatching(/verustream\.numbers broken-on-start_all_2_2_0.*verustream audit/)]);
    await clickhouse.close();
    await open();
    expect(said).toHaveLength(1);
  });

  it('a part that was intact and is now broken keeps it from opening, and the error states the remedy', async () => {
    await empty('all_2_2_0');
    await clickhouse.close();
    const damaged = {
      code: 'clickhouse_damaged',
      message: expect.stringMatching(/numbers .*all_2_2_0.* remove the folder clickhouse/),
    };
    for (let i = 0; i < 2; i++) await expect(open()).rejects.toMatchObject(damaged);
  });

  it('a broken merge whose sources are gone keeps it from opening too, also after a kill', async () => {
    await clickhouse.command('OPTIMIZE TABLE numbers FINAL');
    await empty('all_1_2_1');
    const sources = [await pathOf('all_1_1_0'), await pathOf('all_2_2_0')];
    await killed();
    for (const path of sources) rmSync(path, { recursive: true });
    for (let i = 0; i < 2; i++) await expect(open()).rejects.toMatchObject({ code: 'clickhouse_damaged' });
  });

  it('data that becomes unreadable while it is open is reported as damage', async () => {
    await empty('all_2_2_0');
    await clickhouse.command('SYSTEM DROP MARK CACHE');
    await expect(numbers()).rejects.toMatchObject({ code: 'clickhouse_damaged' });
    expect(existsSync(join(folder, 'closed'))).toBe(false);
  });
});
