/** Ctrl-C in a terminal signals the whole process group; only the main program decides when the engine ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { NODE_FLAGS } from '../../../test/support/infra/node-flags.ts';

it('signals to the process group do not end an engine that is starting', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'verustream-signals-'));
  const [module, store] = [new URL('../embedded.ts', import.meta.url).href, join(folder, 'clickhouse')].map(String);
  const program = `
    process.on('SIGINT', () => undefined);
    const { openEmbeddedClickHouse } = await import(${JSON.stringify(module)});
    const signals = setInterval(() => process.kill(0, 'SIGINT'), 20);
    const clickhouse = await openEmbeddedClickHouse(${JSON.stringify(store)});
    clearInterval(signals);
    await clickhouse.close();
    console.log('opened');`;
  const child = spawn(process.execPath, [...NODE_FLAGS, '--input-type=module', '--eval', program], {
    detached: true, // a process group of its own
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  rmSync(folder, { recursive: true, force: true });
  expect({ out, err }).toEqual({ out: 'opened\n', err: '' });
});
