/** The life cycle of the program: it starts, serves, answers commands, and ends on a signal. */
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RecordedNode } from '../../recordings/player/recorded-node.ts';
import { type Program, runCommand, startProgram, until, untilStatus } from './program.ts';
import { settingsFor, startNode, stopNode, untilServed } from './recorded-chain.ts';

/** Longer than this counts as a hang, even on a busy machine. */
const HANG_MS = 60_000;

describe('a program that follows a daemon', () => {
  let node: RecordedNode;
  let settings: ReturnType<typeof settingsFor>;
  let program: Program;

  beforeAll(async () => {
    node = await startNode(250);
    settings = settingsFor(node.url);
    program = await startProgram(settings, { lives: 'file' }).answers();
    await untilServed(program, node);
  });

  it('is ready without any complaint in the log', async () => {
    // Readiness takes up to ten seconds after the first sync.
    await until('it is ready', async () => (await program.get('/api/health/ready')).status === 200);
    expect(JSON.parse((await program.get('/api/health')).body)).toEqual({ status: 'ok' });
    expect(program.complaints()).toEqual([]);
  });

  it('shows tip, lag and height of each stage as metrics', async () => {
    const lines = ['tail', 'derive', 'price'].flatMap((stage) => [
      `verustream_stage_height{chain="vrsc",stage="${stage}"} 250\n`,
      `verustream_stage_lag_blocks{chain="vrsc",stage="${stage}"} 0\n`,
    ]);
    lines.push('verustream_tip_height{chain="vrsc"} 250\n');
    await until('each stage has told its height', async () => {
      const { body } = await program.get('/metrics');
      return lines.every((line) => body.includes(line));
    });
  });

  it('answers status, verify and audit while it runs', async () => {
    await untilStatus(settings, 0, /^vrsc +derive +following +250 +250 +0.*\nvrsc +price +following +250 +250 +0/m);
    const [verify, audit] = await Promise.all(['verify', 'audit'].map((command) => runCommand([command], settings)));
    expect(verify).toMatchObject({ code: 0, output: expect.stringMatching(/^\d+ tables match the log\.$/m) });
    expect(audit).toMatchObject({ code: 0, output: expect.stringMatching(/ClickHouse agree\.$/m) });
  });

  it('ends after SIGTERM with code 0, logs no complaint, and leaves no process behind', async () => {
    const asked = Date.now();
    const { code, signal } = await program.kill('SIGTERM');
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(Date.now() - asked).toBeLessThan(HANG_MS);
    expect(program.complaints()).toEqual([]);
    await until('no process works on its data folder', () => processesOn(settings.DATA_DIR).length === 0);
  });

  it.skipIf(process.platform === 'win32')('leaves no file that another user may read', () => {
    const names = ['', ...(readdirSync(settings.DATA_DIR, { recursive: true }) as string[])];
    const open = names.filter((name) => {
      const found = lstatSync(join(settings.DATA_DIR, name));
      return !found.isSymbolicLink() && (found.mode & 0o077) !== 0;
    });
    expect(open).toEqual([]);
  });

  it('answers the same commands from its folder when it is stopped, with nothing else on stdout', async () => {
    await untilStatus(settings, 1, /^vrsc +daemon +unknown +250\n[\s\S]*not_reporting: derive of vrsc/m);
    const verify = await runCommand(['verify'], settings);
    expect(verify).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+ tables match the log\.\n$/),
    });
    const audit = await runCommand(['audit'], settings);
    expect(audit).toMatchObject({ code: 0, output: expect.stringMatching(/ClickHouse agree\.$/m) });
    expect(await runCommand(['config'], settings)).toMatchObject({ code: 0 });
  });

  it('continues where it stopped', async () => {
    node.advanceTo(300);
    const again = await startProgram(settings).answers();
    await untilServed(again, node);
    expect(again.output()).toMatch(/"height":250/);
    await stopNode(node);
    await until('the lost daemon is complained about', () => again.complaints().length > 0);
    await untilStatus(settings, 1, /^vrsc +tail +waiting[\s\S]*daemon_unreachable: /m);
    expect(await again.kill('SIGTERM')).toMatchObject({ code: 0 });
  });
});

describe('SIGTERM at any other moment', () => {
  it.each([100, 700, 1300, 2200, 4000])('ends the program %i ms after its start, with code 0', async (ms) => {
    const node = await startNode(700);
    const program = startProgram(settingsFor(node.url));
    await new Promise((resolve) => setTimeout(resolve, ms));
    const asked = Date.now();
    const { code, signal, output } = await program.kill('SIGTERM');
    // Before its first line runs, the program does not handle signals.
    if (signal !== 'SIGTERM') expect({ code, output }).toEqual({ code: 0, output });
    expect(Date.now() - asked).toBeLessThan(HANG_MS);
    await stopNode(node);
  });

  it.skipIf(process.platform === 'win32')('ends the program with code 0 while it reads its configuration', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'life-')), 'config');
    execFileSync('mkfifo', [file]);
    const program = startProgram({ ...settingsFor('http://127.0.0.1:1'), VERUSTREAM_CONFIG: file });
    const writing = await open(file, 'w'); // when the program opens it for reading
    const ended = program.kill('SIGTERM');
    await writing.writeFile('{}');
    await writing.close();
    expect(await ended).toMatchObject({ code: 0, signal: null });
  });
});

/** Ids of the processes whose command line names the folder or that work in it; empty except on Linux. */
function processesOn(folder: string): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').filter((pid) => {
    try {
      if (!/^\d+$/.test(pid)) return false;
      const [command, cwd] = [readFileSync(`/proc/${pid}/cmdline`, 'utf8'), readlinkSync(`/proc/${pid}/cwd`)];
      return command.includes(folder) || cwd.startsWith(folder);
    } catch {
      return false; // the process has ended in the meantime
    }
  });
}
