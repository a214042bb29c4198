import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { NODE_FLAGS } from '../test/support/infra/node-flags.ts';
import { createFolder } from './create-folder.ts';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'verustream-folders-'));
  writeFileSync(join(root, 'file'), '');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

it('creates a folder with its parents, and accepts one that exists', () => {
  const path = join(root, 'a', 'b', 'c');
  for (let time = 0; time < 2; time++) createFolder(path, 0o700);
  expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o700);
  expect(statSync(path).isDirectory()).toBe(true);
});

it.each([
  ['file', 'EEXIST'],
  ['file/b', 'ENOTDIR'],
])('refuses %s, where a file is in the way', (path, code) => {
  expect(() => createFolder(join(root, path))).toThrow(expect.objectContaining({ code }));
});

// In a process of its own: a test that never returns could not be ended otherwise.
it.runIf(existsSync('/proc/self'))('ends where the file system has no room for folders', () => {
  const module = JSON.stringify(new URL('create-folder.ts', import.meta.url).href);
  const program = `import(${module}).then(({ createFolder }) => createFolder('/proc/out/of')).catch(({ code }) => console.log(code))`;
  const { stdout, signal } = spawnSync(process.execPath, [...NODE_FLAGS, '--eval', program], {
    encoding: 'utf8',
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  expect({ stdout, signal }).toEqual({ stdout: 'ENOENT\n', signal: null });
});
