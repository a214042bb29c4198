/** `sql` in a process that also serves: a long answer does not keep the event loop to itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { collectedOutput } from '../test/support/commands/collected-output.ts';
import { watchLoopTurns } from '../test/support/infra/loop-turns.ts';
import { createTestStores, type TestStores } from '../test/support/infra/test-stores.ts';
import { answer } from './answer.ts';
import { run as sql } from './sql.ts';

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
    await sleep(0); // so that the last turn has been counted
    turns.stop();
    const { user, system } = process.cpuUsage(began);
    expect(turns.longest()).toBeLessThan((user + system) / 1000 / 2);
    expect(lines.length).toBe(json ? 1 : ROWS + (format === 'ndjson' ? 0 : 1));
  },
  120_000,
);
