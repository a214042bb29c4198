import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { claimDataFolder, inspectDataFolder, SCRATCH_PREFIX } from './data-folder.ts';

const folder = () => mkdtempSync(join(tmpdir(), 'verustream-folder-'));
const module = new URL('./data-folder.ts', import.meta.url).href;

function inChild(path: string, after: string) {
  const code = `import(${JSON.stringify(module)}).then(({claimDataFolder}) => { claimDataFolder(${JSON.stringify(path)}); ${after} }).catch((e) => { console.log(e.code + ' ' + e.message); process.exit(3); })`;
  return spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', '-e', code], { encoding: 'utf8' });
}

it('a second process is refused with the id of the process that owns the folder', () => {
  const path = folder();
  const claim = claimDataFolder(path);
  const child = inChild(path, '');
  expect(child.status).toBe(3);
  expect(child.stdout).toContain(`data_folder_busy Another verustream (process ${process.pid})`);
  claim.release();
  expect(inChild(path, 'process.exit(0)').status).toBe(0);
});

it('inspection detects that the folder is in use, and changes nothing', () => {
  const path = folder();
  chmodSync(path, 0o755);
  expect(inspectDataFolder(path)).toEqual({ path, isOpen: true });
  expect(readdirSync(path)).toEqual([]);
  const claim = claimDataFolder(path);
  const code = `import(${JSON.stringify(module)}).then(({inspectDataFolder}) => inspectDataFolder(${JSON.stringify(path)})).catch((e) => console.log(e.code))`;
  const looked = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', '-e', code], {
    encoding: 'utf8',
  });
  expect(looked.stdout).toBe('data_folder_busy\n');
  claim.release();
  expect(inspectDataFolder(path)).toEqual({ path, isOpen: false });
});

it('kill -9 frees the folder', () => {
  const path = folder();
  expect(inChild(path, 'process.kill(process.pid, "SIGKILL")').signal).toBe('SIGKILL');
  claimDataFolder(path).release();
});

it('the next claim removes only the leftovers of a killed command', () => {
  const path = folder();
  mkdirSync(join(path, `${SCRATCH_PREFIX}abc`, 'log'), { recursive: true });
  mkdirSync(join(path, 'log'));
  claimDataFolder(path).release();
  expect(readdirSync(path).toSorted()).toEqual(['lock', 'log', 'pid']);
});

it('a folder that cannot be created is reported', () => {
  const path = folder();
  writeFileSync(join(path, 'file'), '');
  expect(() => claimDataFolder(join(path, 'file', 'data'))).toThrow(/cannot be written.*DATA_DIR/);
});

const modeOf = (path: string) => statSync(path).mode & 0o777;

it('a new folder is closed to other users', () => {
  const path = join(folder(), 'data');
  const claim = claimDataFolder(path);
  expect(modeOf(path)).toBe(0o700);
  expect(claim.isOpen).toBe(false);
  claim.release();
});

it('closes what an earlier version left open, even after an interruption; leaves symbolic links alone', () => {
  const path = folder();
  const outside = join(folder(), 'outside');
  writeFileSync(outside, '');
  chmodSync(outside, 0o644);
  chmodSync(path, 0o755);
  mkdirSync(join(path, 'log/inner'), { recursive: true });
  for (const file of ['log/a.sqlite', 'log/inner/b.bin', 'lock']) {
    writeFileSync(join(path, file), '');
    chmodSync(join(path, file), 0o664);
  }
  for (const open of ['log', 'log/inner']) chmodSync(join(path, open), 0o755);
  chmodSync(join(path, 'log/a.sqlite'), 0o600); // already closed by an interrupted start
  symlinkSync(outside, join(path, 'log/link'));
  claimDataFolder(path).release();
  for (const closed of ['', 'log', 'log/inner']) expect(modeOf(join(path, closed)), closed).toBe(0o700);
  for (const file of ['log/a.sqlite', 'log/inner/b.bin', 'lock', 'pid'])
    expect(modeOf(join(path, file)), file).toBe(0o600);
  expect(modeOf(outside)).toBe(0o644);
  expect(lstatSync(join(path, 'log/link')).isSymbolicLink()).toBe(true);
});
