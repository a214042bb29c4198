/** Whatever ClickHouse does with a statement, its caller gets a result or an error in time, and the next statement runs. */

import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRandom } from '../../recordings/player/faults.ts';
import { SEED } from '../../test/setup/seed.ts';
import { type ClickHouseFacade, startClickHouseFacade } from '../../test/support/infra/clickhouse/start-facade.ts';
import { columns, rowReader } from '../row-reader.ts';
import { type ClickHouse, createClickHouse, killSql } from './clickhouse.ts';
import { openEmbeddedClickHouse } from './embedded.ts';
import { connectClickHouse } from './server.ts';

const BOUND = { max_execution_time: 1 } as const;
/** The bound, the extra time for ClickHouse to refuse by itself, and reserve for a busy machine. */
const IN_TIME_MS = 15_000;
const FOR_EVER = 'SELECT sum(cityHash64(number)) FROM numbers(1e15)';
const logger = pino({ level: 'silent' });

const folders: string[] = [];

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'verustream-clickhouse-'));
  folders.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const began = performance.now();
  const settled = await Promise.race([
    work.then(
      () => 'answered',
      () => 'answered',
    ),
    new Promise((resolve) => setTimeout(resolve, ms, 'still waits')),
  ]);
  expect(settled, `after ${Math.round(performance.now() - began)} ms`).toBe('answered');
  return work;
}

/** The running FOR_EVER statements. */
async function endless(clickhouse: ClickHouse): Promise<string[]> {
  const rows = await clickhouse.rows(rowReader({ query: columns.text }), 'SELECT query FROM system.processes');
  return rows.map(({ query }) => query).filter((query) => query.includes('1e15'));
}

/** A statement without a bound of its own would run for longer than a test may take, so the caller's abort must have ended it. */
async function endsWithItsCaller(clickhouse: ClickHouse): Promise<void> {
  const caller = new AbortController();
  const asked = expect(clickhouse.query(FOR_EVER, undefined, undefined, caller.signal)).rejects.toThrow('gone');
  await expect.poll(() => endless(clickhouse)).toHaveLength(1);
  caller.abort(new Error('gone'));
  await asked;
  expect(await endless(clickhouse)).toEqual([]);
  await expect(clickhouse.query('SELECT 1', undefined, undefined, caller.signal)).rejects.toThrow('gone');
}

describe('a ClickHouse server', () => {
  let facade: ClickHouseFacade;
  let clickhouse: ClickHouse;

  beforeAll(async () => {
    facade = await startClickHouseFacade(temporary());
    clickhouse = await connectClickHouse(facade.url, logger);
  });

  afterAll(async () => {
    await clickhouse.close();
    await facade.stop();
  });

  it('that hangs is reported as silent to any number of callers, and works again when it continues', async () => {
    process.kill(facade.pid, 'SIGSTOP');
    const asked = Array.from({ length: 20 }, () => clickhouse.query('SELECT 1 AS n', {}, BOUND));
    const outcomes = await within(IN_TIME_MS, Promise.allSettled(asked));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'clickhouse_silent' } });
    process.kill(facade.pid, 'SIGCONT');
    expect(await within(IN_TIME_MS, clickhouse.query('SELECT 1 AS n'))).toEqual([{ n: 1 }]);
  });

  it('has ended a statement whose caller aborts before the caller gets the error', async () => {
    await endsWithItsCaller(clickhouse);
  });

  it('that is killed in the middle of a statement is reported as unreachable', async () => {
    const asked = clickhouse.query(FOR_EVER);
    const reported = expect(asked).rejects.toMatchObject({ code: 'clickhouse_unreachable' });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await facade.stop();
    await within(IN_TIME_MS, reported);
    await expect(clickhouse.query('SELECT 1')).rejects.toMatchObject({ code: 'clickhouse_unreachable' });
  });
});

describe('a ClickHouse server that ignores the first requests to cancel a statement', () => {
  let facade: ClickHouseFacade;
  let clickhouse: ClickHouse;

  beforeEach(async () => {
    facade = await startClickHouseFacade(temporary(), 2);
    clickhouse = await connectClickHouse(facade.url, logger);
  });

  afterEach(async () => {
    await clickhouse.close();
    await facade.stop();
  });

  it('is asked again', async () => {
    await endsWithItsCaller(clickhouse);
  });

  it('is asked again even if the program closes its connections at once', async () => {
    const leaving = await connectClickHouse(facade.url, logger);
    const caller = new AbortController();
    const asked = expect(leaving.query(FOR_EVER, undefined, undefined, caller.signal)).rejects.toThrow('gone');
    await expect.poll(() => endless(clickhouse)).toHaveLength(1);
    caller.abort(new Error('gone'));
    await leaving.close();
    await asked;
    expect(await endless(clickhouse)).toEqual([]);
  });
});

it('neither an aborted caller nor a stop of the program waits for a ClickHouse server that cancels no statement', async () => {
  const facade = await startClickHouseFacade(temporary(), Number.MAX_SAFE_INTEGER);
  const clickhouse = await connectClickHouse(facade.url, logger);
  const callers = [new AbortController(), new AbortController()];
  const asked = callers.map(({ signal }) =>
    expect(clickhouse.query(FOR_EVER, undefined, undefined, signal)).rejects.toThrow('gone'),
  );
  const watch = await connectClickHouse(facade.url, logger);
  await expect.poll(() => endless(watch)).not.toEqual([]);
  for (const caller of callers) caller.abort(new Error('gone'));
  await clickhouse.close();
  await Promise.all(asked);
  await watch.close();
  await facade.stop();
});

it('KILL ends a statement on ClickHouse, found by the id in its text', async () => {
  const clickhouse = await openEmbeddedClickHouse(temporary());
  const readProcess = rowReader({ query: columns.text });
  const running = async () =>
    (await clickhouse.rows(readProcess, "SELECT query FROM system.processes WHERE query LIKE '%1e15%'")).filter(
      ({ query }) => !query.includes('system.processes'),
    );
  const asked = expect(clickhouse.query(FOR_EVER)).rejects.toMatchObject({ code: 'clickhouse_overloaded' });
  await expect.poll(running).toHaveLength(1);
  const [id = ''] = /[0-9a-f-]{36}/.exec((await running())[0]?.query ?? '') ?? [];
  await clickhouse.query(killSql(id));
  await asked;
  expect(await running()).toEqual([]);
  await clickhouse.close();
});

it('when its caller aborts, a running statement rejects once it has ended, and one that waits for a lane at once', async () => {
  const clickhouse = await openEmbeddedClickHouse(temporary());
  await endsWithItsCaller(clickhouse);
  const caller = new AbortController();
  const outcomes = Array.from({ length: 20 }, () => clickhouse.query(FOR_EVER, undefined, undefined, caller.signal));
  const ended = Promise.allSettled(outcomes);
  caller.abort(new Error('gone')); // some are sent but perhaps not begun
  for (const outcome of await ended) expect(outcome).toMatchObject({ reason: { message: 'gone' } });
  expect(await endless(clickhouse)).toEqual([]);
  await clickhouse.close();
});

it('a statement that cannot be cancelled occupies only its own lane, and only while it runs', async () => {
  const killed: string[] = [];
  const ends: (() => void)[] = [];
  const stuck = createClickHouse({
    lanes: [{ client: null as never }],
    run: () => new Promise((resolve) => ends.push(() => resolve({ json: () => [] } as never))),
    kill: (id) => void killed.push(id),
    isOwn: true,
    close: async () => undefined,
  });
  const asked = [1, 2, 3].map(() => stuck.query('SELECT 1', {}, { max_execution_time: 0.01 }));
  for (const outcome of await Promise.allSettled(asked)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'clickhouse_silent' } });
  }
  expect(ends, 'those that waited for the lane were never begun').toHaveLength(1);
  const next = stuck.query('SELECT 2');
  for (const end of ends.splice(0)) end();
  await expect.poll(() => ends.length).toBe(1);
  for (const end of ends) end();
  await next;
});

it('slow statements on every connection do not delay file operations', async () => {
  const clickhouse = await openEmbeddedClickHouse(temporary());
  const statements = Array.from({ length: 4 }, () =>
    clickhouse.query('SELECT sleepEachRow(1) FROM numbers(10) SETTINGS max_block_size = 1'),
  );
  await sleep(500); // they have begun
  const first = await Promise.race([
    ...statements.map((ended) => ended.then(() => 'statement')),
    stat(tmpdir()).then(() => 'file'),
  ]);
  expect(first).toBe('file');
  await Promise.all(statements);
  await clickhouse.close();
});

describe('parts whose bytes are wrong', () => {
  const random = createRandom(SEED);
  /** With this many rows, one block of a column keeps the engine busy for some seconds. */
  const ROWS = 10_000;
  const LONGEST_SEARCH_MS = 120_000;
  const KINDS = ['data.bin', 'data.cmrk*', 'primary.c?idx', 'columns.txt', 'count.txt', 'n.bin', 't.bin', 't.size.bin'];
  const STATEMENTS = [
    'SELECT count() FROM numbers',
    'SELECT sum(n) FROM numbers',
    'SELECT uniq(t) FROM numbers',
    'SELECT t, n FROM numbers WHERE n > 77 ORDER BY n LIMIT 3',
  ];

  function flip(path: string): void {
    const bytes = readFileSync(path);
    for (let times = 0; times < 6; times++) {
      const at = Math.floor(random() * bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 + Math.floor(random() * 255));
    }
    writeFileSync(path, bytes);
  }

  /** The rows as JSON, or the code of the error. */
  const outcomeOf = (work: Promise<unknown>): Promise<string> =>
    within(
      IN_TIME_MS,
      work.then(
        (rows) => JSON.stringify(rows),
        ({ code }: { code: string }) => code,
      ),
    );

  interface Stored {
    readonly folder: string;
    /** Glob for the parts of `numbers`, relative to the folder. */
    readonly parts: string;
    /** Correct answers by statement. */
    readonly answers: ReadonlyMap<string, string>;
  }

  async function store(rows: number, settings: string): Promise<Stored> {
    const folder = temporary();
    const clickhouse = await openEmbeddedClickHouse(folder);
    await clickhouse.command(
      `CREATE TABLE numbers (n UInt64, t String) ENGINE = MergeTree ORDER BY n SETTINGS ${settings}`,
    );
    await clickhouse.command(`INSERT INTO numbers SELECT number, toString(rand()) FROM numbers(${rows})`);
    await clickhouse.command('CREATE TABLE others (n UInt64) ENGINE = MergeTree ORDER BY n');
    await clickhouse.insert('others', ['n'], [[1]]);
    const [table] = await clickhouse.rows(
      rowReader({ path: columns.text }),
      "SELECT data_paths[1] AS path FROM system.tables WHERE name = 'numbers' AND database = currentDatabase()",
    );
    const answers = new Map<string, string>();
    for (const sql of STATEMENTS) answers.set(sql, await outcomeOf(clickhouse.query(sql)));
    await clickhouse.close();
    return { folder, parts: `${relative(folder, table?.path ?? '')}/all_*`, answers };
  }

  it.each([
    ['wide', 'min_bytes_for_wide_part = 0'],
    ['compact', 'min_bytes_for_wide_part = 1000000000'],
  ])(
    `in each kind of file of %s parts (TEST_SEED=${SEED}): every answer is right, everything else is reported as damage`,
    async (_, settings) => {
      const { folder, parts, answers } = await store(3000, settings);
      const kept = join(temporary(), 'kept');
      cpSync(folder, kept, { recursive: true, verbatimSymlinks: true });
      const reported = new Set<string>();
      for (const kind of KINDS) {
        for (const file of globSync(`${parts}/${kind}`, { cwd: folder })) flip(join(folder, file));
        const opened = await openEmbeddedClickHouse(folder).catch(({ code }: { code: string }) => code);
        if (typeof opened === 'string') reported.add(opened);
        else {
          for (const sql of STATEMENTS) {
            const outcome = await outcomeOf(opened.query(sql));
            if (outcome !== answers.get(sql)) reported.add(outcome);
          }
          expect(await outcomeOf(opened.query('SELECT n FROM others'))).toBe('[{"n":"1"}]');
          await opened.close();
        }
        rmSync(folder, { recursive: true });
        cpSync(kept, folder, { recursive: true, verbatimSymlinks: true });
      }
      expect([...reported]).toEqual(['clickhouse_damaged']);
    },
  );

  it('that keep the engine busy beyond every time limit are reported, and at once from then on', async () => {
    const { folder, parts, answers } = await store(ROWS, 'min_bytes_for_wide_part = 0');
    for (const file of globSync(`${parts}/*.bin`, { cwd: folder })) flip(join(folder, file));
    const clickhouse = await openEmbeddedClickHouse(folder);
    const [counted = '', ...others] = STATEMENTS;
    const outcomes = await Promise.all(others.map((sql) => outcomeOf(clickhouse.query(sql, {}, BOUND))));
    for (const outcome of outcomes) expect(outcome).toMatch(/^clickhouse_(silent|damaged|overloaded)$/);
    await expect.poll(() => clickhouse.damage()?.code).toBe('clickhouse_damaged');
    for (const sql of others) await expect(clickhouse.query(sql)).rejects.toMatchObject({ code: 'clickhouse_damaged' });
    expect(await outcomeOf(clickhouse.query('SELECT n FROM others'))).toBe('[{"n":"1"}]');
    const searching = async () => (await clickhouse.query('SELECT 1 FROM system.processes')).length;
    await expect.poll(searching, { timeout: LONGEST_SEARCH_MS }).toBe(1);
    expect(answers.get(counted)).toBe(`[{"count()":"${ROWS}"}]`);
    await clickhouse.close();
  });
});
