import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { claimDataFolder } from './data-folder.ts';

const folder = () => mkdtempSync(join(tmpdir(), 'verustream-folder-'));
const module = new URL('./data-folder.ts', import.meta.url).href;

function inChild(path: string, after: string) {
  const code = `import(${JSON.stringify(module)}).then(({claimDataFolder}) => { claimDataFolder(${JSON.stringify(path)}); ${after} }).catch((e) => { console.log(e.code + ' ' + e.message); process.exit(3); })`;
  return spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', '-e', code], { encoding: 'utf8' });
}

it('a second process is refused and told who holds the folder', () => {
  const path = folder();
  const claim = claimDataFolder(path);
  const child = inChild(path, '');
  expect(child.status).toBe(3);
  expect(child.stdout).toContain(`data_folder_busy Another verustream (process ${process.pid})`);
  claim.release();
  expect(inChild(path, 'process.exit(0)').status).toBe(0);
});

it('kill -9 frees it', () => {
  const path = folder();
  expect(inChild(path, 'process.kill(process.pid, "SIGKILL")').signal).toBe('SIGKILL');
  claimDataFolder(path).release();
});

it('a folder that cannot be made says so', () => {
  const path = folder();
  writeFileSync(join(path, 'file'), '');
  expect(() => claimDataFolder(join(path, 'file', 'data'))).toThrow(/cannot be written.*DATA_DIR/);
});
