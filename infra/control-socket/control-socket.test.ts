import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { askService, serveControl } from './control-socket.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const folder = () => mkdtempSync(join(tmpdir(), 'vs-'));

it('carries lines and the exit code', async () => {
  const path = folder();
  const server = await serveControl(path, async ({ command, args }, print) => {
    print(`${command} ${args.join(' ')}`);
    return 3;
  });
  closers.push(server.close);
  const lines: string[] = [];
  expect(await askService(path, { command: 'status', args: ['a', 'b'] }, (line) => lines.push(line))).toBe(3);
  expect(lines).toEqual(['status a b']);
});

it('says why a command failed', async () => {
  const path = folder();
  const server = await serveControl(path, async () => Promise.reject(new Error('no such chain')));
  closers.push(server.close);
  const lines: string[] = [];
  expect(await askService(path, { command: 'x', args: [] }, (line) => lines.push(line))).toBe(1);
  expect(lines).toEqual(['no such chain']);
});

it('answers null where no service runs, also beside a leftover file', async () => {
  const path = folder();
  expect(await askService(path, { command: 'status', args: [] }, () => undefined)).toBeNull();
  writeFileSync(join(path, 'control.sock'), '');
  expect(await askService(path, { command: 'status', args: [] }, () => undefined)).toBeNull();
});

it('fails when the service ends in the middle of an answer', async () => {
  const path = folder();
  const server = await serveControl(path, () => new Promise(() => undefined));
  const asked = askService(path, { command: 'verify', args: [] }, () => undefined);
  setTimeout(() => server.close(), 50);
  await expect(asked).rejects.toThrow(/ended before it answered/);
});
