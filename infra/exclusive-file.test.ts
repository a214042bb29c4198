import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { isFileLocked, lockFile } from './exclusive-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'vst-exclusive-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('has one holder, even within one process, and is free again after release', () => {
  const file = join(folder, 'once');
  expect(isFileLocked(file)).toBe(false);
  const held = lockFile(file);
  expect(held).not.toBeNull();
  expect(isFileLocked(file)).toBe(true);
  expect(lockFile(file)).toBeNull();
  held?.release();
  expect(isFileLocked(file)).toBe(false);
  const next = lockFile(file);
  expect(next).not.toBeNull();
  next?.release();
});

it('is free once the process that held it was killed', async () => {
  const file = join(folder, 'killed');
  const module = JSON.stringify(new URL('exclusive-file.ts', import.meta.url).href);
  const program = `import(${module}).then(({ lockFile }) => { console.log(lockFile(${JSON.stringify(file)}) !== null); setInterval(() => {}, 1000); });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [said] = await once(child.stdout, 'data');
    expect(String(said).trim()).toBe('true');
    expect(lockFile(file)).toBeNull();
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
  const held = lockFile(file);
  expect(held).not.toBeNull();
  held?.release();
});

it('throws if the file cannot be created', () => {
  expect(() => lockFile(join(folder, 'missing', 'lock'))).toThrow(/ENOENT/);
});
