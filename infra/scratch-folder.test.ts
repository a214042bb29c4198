import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { makeScratchFolder, removeLeftScratchFolders } from './scratch-folder.ts';

let temporary: string;

beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'scratch-'));
  vi.stubEnv('TMPDIR', temporary);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(temporary, { recursive: true });
});

/** Starts a process that makes a folder and writes a file into it. */
async function startProcess(): Promise<{ readonly name: string; kill(): Promise<void> }> {
  const module = JSON.stringify(new URL('scratch-folder.ts', import.meta.url).href);
  const program = `const { path } = await (await import(${module})).makeScratchFolder('sql');
    (await import('node:fs')).writeFileSync(path + '/rows.csv', '1');
    console.log(path);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [said] = await once(child.stdout, 'data');
  return {
    name: basename(String(said).trim()),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

it('the folder of a killed process is removed by the next one, and that of a running process stays', async () => {
  const [killed, running] = await Promise.all([startProcess(), startProcess()]);
  try {
    const own = await makeScratchFolder('export');
    await killed.kill();
    expect(readdirSync(temporary)).toHaveLength(3);
    await removeLeftScratchFolders();
    expect(readdirSync(temporary).sort()).toEqual([basename(own.path), running.name].sort());
    await running.kill();
    const next = await makeScratchFolder('sql');
    expect(readdirSync(temporary).sort()).toEqual([basename(own.path), basename(next.path)].sort());
    await Promise.all([own.remove(), next.remove()]);
    expect(readdirSync(temporary)).toEqual([]);
  } finally {
    await Promise.all([killed.kill(), running.kill()]);
  }
});

it('anything else in the temporary folder stays', async () => {
  mkdirSync(join(temporary, 'verustream-sql-without-a-lock'));
  mkdirSync(join(temporary, 'verustream-other-1'));
  writeFileSync(join(temporary, 'verustream-sql-file'), '');
  await removeLeftScratchFolders();
  expect(readdirSync(temporary)).toHaveLength(3);
});

it('processes that make folders at the same time do not take them from each other', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => makeScratchFolder('sql')));
  expect(readdirSync(temporary)).toHaveLength(20);
  for (const folder of made) await folder.remove();
});
