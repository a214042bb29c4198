/** Asks the real engine what it runs. A statement that was never sent to the engine stands for one that the engine lost. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Client } from '../client.ts';
import { watchForStalled } from './stalled-statements.ts';
import { type EngineProcess, startEngineProcess } from './start.ts';

const TIMES = { afterMs: 4_000, everyMs: 50, answerMs: 60_000 };
/** Runs for longer than TIMES.afterMs. */
const LONG = 'SELECT sleepEachRow(3) FROM numbers(2) SETTINGS max_block_size = 1';
const never = new Promise<never>(() => undefined);

let folder: string;
let engine: EngineProcess;
let looking: Client;
let working: Client;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'verustream-stalled-'));
  engine = await startEngineProcess(folder);
  [looking, working] = [await engine.connect(), await engine.connect()];
});
afterAll(async () => {
  await engine?.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = async (client: Client, query: string) => (await client.query({ query, format: 'TabSeparated' })).text();
const running = async (seconds: number) =>
  Number(await ask(looking, `SELECT countIf(elapsed > ${seconds}) FROM system.processes`));

it('does not report statements that run or were answered, and reports one that the engine has lost', async () => {
  const reported: (readonly string[])[] = [];
  const watch = watchForStalled(running, (statements) => reported.push(statements), TIMES);
  await watch.during('short', ask(working, 'SELECT 1'));
  await watch.during('long', ask(working, LONG));
  expect(reported).toEqual([]);
  void watch.during('lost', never);
  const beside = watch.during('long', ask(working, LONG));
  await expect.poll(() => reported, { message: 'also while another runs' }).not.toEqual([]);
  await beside;
  expect(reported[0]).toContain('lost');
  await sleep(5 * TIMES.everyMs);
  expect(reported, 'once').toHaveLength(1);
});

it('treats all statements as lost if the engine does not answer the check, and none if it refuses the check', async () => {
  const reported: string[] = [];
  const watches = [
    watchForStalled(
      () => never,
      () => reported.push('silent'),
      { ...TIMES, answerMs: 10 },
    ),
    watchForStalled(
      () => Promise.reject(new Error('no memory')),
      () => reported.push('refuses'),
      TIMES,
    ),
  ];
  for (const watch of watches) void watch.during('statement', never);
  await expect.poll(() => reported).toEqual(['silent']);
  await sleep(10 * TIMES.everyMs);
  expect(reported).toEqual(['silent']);
  for (const watch of watches) watch.end();
});
