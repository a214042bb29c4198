/** After a restart of the machine, the process id in a leftover postmaster.pid may belong to any program. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, expect, it, vi } from 'vitest';
import { endLeftover } from './leftover.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  actAs(platform);
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

const { platform } = process;
const actAs = (value: string) => Object.defineProperty(process, 'platform', { value });
const hasPs = spawnSync('ps', ['-p', String(process.pid), '-o', 'comm=']).status === 0;

it.skipIf(!hasPs).each([platform, 'darwin'])(
  'does not end another program that got its process id: %s',
  async (name) => {
    actAs(name);
    const other = spawn('sleep', ['60'], { stdio: 'ignore' });
    children.push(other);
    await once(other, 'spawn');
    const data = mkdtempSync(join(tmpdir(), 'verustream-leftover-'));
    const file = join(data, 'postmaster.pid');
    writeFileSync(file, `${other.pid}\n${data}\n`);
    await endLeftover(data, pino({ level: 'silent' }));
    expect(existsSync(file)).toBe(false);
    expect({ code: other.exitCode, signal: other.signalCode }).toEqual({ code: null, signal: null });
    expect(process.kill(other.pid ?? 0, 0)).toBe(true);
  },
);

it('does not fail at a process that it may not signal', async () => {
  actAs('darwin');
  vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
  });
  const data = mkdtempSync(join(tmpdir(), 'verustream-leftover-'));
  writeFileSync(join(data, 'postmaster.pid'), `1\n${data}\n`);
  await endLeftover(data, pino({ level: 'silent' }));
  expect(existsSync(join(data, 'postmaster.pid'))).toBe(false);
});
