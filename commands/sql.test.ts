/** `sql` in a process that also serves: a long answer does not block the event loop, and a statement ends with its client. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { controlSocketPath, serveControl } from '../infra/control-socket/control-socket.ts';
import { collectedOutput } from '../test/support/commands/collected-output.ts';
import { watchLoopTurns } from '../test/support/infra/loop-turns.ts';
import { createTestStores, type TestStores } from '../test/support/infra/test-stores.ts';
import { answer } from './answer.ts';
import { run as sql } from './sql.ts';
import { answerControl } from './store-commands.ts';

const ROWS = 300_000;
let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores?.close());

it.each([
  ['csv', false],
  ['ndjson', false],
  ['table', false],
  ['csv', true],
])(
  'format %s, --json: %s',
  async (format, json) => {
    const input = {
      statement: `SELECT number, toString(number) AS text, 'a, b' AS quoted FROM numbers(${ROWS})`,
      format,
      rows: String(ROWS),
      seconds: undefined,
    };
    const { output, lines } = collectedOutput();
    const turns = watchLoopTurns();
    const began = process.cpuUsage();
    const asked = { name: 'sql', json, help: false, input } as Parameters<typeof answer>[0];
    await answer(asked, output, (lent) => sql({ stores, signal: new AbortController().signal }, input, lent));
    await sleep(0); // lets the last turn be counted
    turns.stop();
    const { user, system } = process.cpuUsage(began);
    // One turn may include a garbage collection of all rows.
    expect(turns.longest()).toBeLessThan(((user + system) / 1000) * 0.75);
    expect(lines.length).toBe(json ? 1 : ROWS + (format === 'ndjson' ? 0 : 1));
  },
  120_000,
);

it('escapes texts in CSV that a spreadsheet would run, and leaves numbers unchanged', async () => {
  const statement = `SELECT '=1+1' AS "=cmd()", '@SUM(A1)' AS at, '-5' AS digits, -5 AS number, toDecimal64(-1.5, 2) AS amount,
    toInt64(-9007199254740993) AS large, [1, 2] AS list, NULL AS none, 'a, "b"' AS quoted, '''x''' AS apostrophe`;
  const { output, lines } = collectedOutput();
  const input = { statement, format: 'csv', rows: undefined, seconds: undefined };
  await sql({ stores, signal: new AbortController().signal }, input, output);
  expect(lines).toEqual([
    "'=cmd(),at,digits,number,amount,large,list,none,quoted,apostrophe",
    `'=1+1,'@SUM(A1),-5,-5,-1.5,-9007199254740993,"[1,2]",,"a, ""b""",''x'`,
  ]);
});

const FOR_EVER = 'SELECT sum(cityHash64(number)) FROM numbers(1e15)';
const inputOf = (statement: string, seconds: string) => ({ statement, seconds, format: undefined, rows: undefined });

async function endless(): Promise<number> {
  const rows = await stores.clickhouse.query('SELECT query FROM system.processes');
  return rows.filter(({ query }) => String(query).includes('1e15')).length;
}

it('a statement ends when its client disconnects and when the service stops', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'verustream-sql-test-'));
  const control = await serveControl(
    folder,
    answerControl({ stores } as unknown as Parameters<typeof answerControl>[0]),
  );
  const ask = async () => {
    const socket = connect(controlSocketPath(folder));
    await once(socket, 'connect');
    socket.write(`${JSON.stringify({ command: 'sql', args: [FOR_EVER, '--seconds', '600'] })}\n`);
    await expect.poll(endless).toBe(1);
    return socket;
  };
  (await ask()).destroy();
  await expect.poll(endless).toBe(0);
  await ask();
  await control.close();
  expect(await endless()).toBe(0);
  await rm(folder, { recursive: true });
});

it('an interrupted command fails with sql_stopped', async () => {
  const caller = new AbortController();
  const asked = sql({ stores, signal: caller.signal }, inputOf(FOR_EVER, '600'), collectedOutput().output);
  const stopped = expect(asked).rejects.toMatchObject({ code: 'sql_stopped' });
  await expect.poll(endless).toBe(1);
  caller.abort();
  await stopped;
});

it('a copy that takes longer than the time limit fails with an error of Postgres', async () => {
  const { pool } = stores.postgres;
  const holder = await pool.connect();
  await holder.query('BEGIN; LOCK TABLE transfers IN ACCESS EXCLUSIVE MODE');
  const { signal } = new AbortController();
  const asked = sql({ stores, signal }, inputOf('SELECT count() FROM v_transfers', '1'), collectedOutput().output);
  await expect(asked).rejects.toMatchObject({ code: 'postgres_interrupted' });
  await holder.query('ROLLBACK');
  holder.release();
});

it('fails with an error that names the folder if rows cannot be written there', async () => {
  const folder = join(tmpdir(), 'verustream-no-such-folder');
  vi.stubEnv('TMPDIR', folder);
  try {
    const { signal } = new AbortController();
    const asked = sql({ stores, signal }, inputOf('SELECT count() FROM v_transfers', '60'), collectedOutput().output);
    await expect(asked).rejects.toMatchObject({ code: 'scratch_unusable', message: expect.stringContaining(folder) });
  } finally {
    vi.unstubAllEnvs();
  }
});
