/** Trouble with the data folder: the program reports it in one line and loses no existing data. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordedNode } from '../../recordings/player/recorded-node.ts';
import { leftBy } from './digests.ts';
import { type EndedProgram, runCommand, startProgram, until } from './program.ts';
import { servedHeight, settingsFor, startNode, temporaryFolder, untilServed } from './recorded-chain.ts';

const mounted: string[] = [];

afterAll(() => {
  for (const folder of mounted) execFileSync('umount', ['--lazy', folder]);
});

/** Returns null when this user may not mount. */
function mount(folder: string, ...options: string[]): string | null {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', [...options, folder], { stdio: 'ignore' });
  } catch {
    return null;
  }
  mounted.push(folder);
  return folder;
}

const NO_MOUNT = 'this user may not mount a file system';

function refusal({ code, output }: EndedProgram): string {
  expect(code, output).toBe(1);
  const lines = output.split('\n').filter(Boolean);
  expect(lines, 'one line').toHaveLength(1);
  return lines[0] ?? '';
}

describe('a data folder that cannot be used', () => {
  it('a file in its place', async () => {
    const DATA_DIR = join(temporaryFolder(), 'file');
    writeFileSync(DATA_DIR, '');
    expect(refusal(await runCommand(['start'], { DATA_DIR }))).toMatch(
      /file cannot be written: .*set DATA_DIR\. \(data_folder_unusable\)$/,
    );
  });

  it('a path too long for a socket', async () => {
    const DATA_DIR = join(temporaryFolder(), 'x'.repeat(120));
    expect(refusal(await runCommand(['start'], { DATA_DIR }))).toMatch(
      /too long for the path of a socket.*\(data_dir_too_long\)$/,
    );
    expect(existsSync(DATA_DIR), 'refused before anything is made').toBe(false);
  });

  it('a read-only file system', async ({ skip }) => {
    const DATA_DIR = mount(join(temporaryFolder(), 'readonly'), '-t', 'tmpfs', '-o', 'ro', 'tmpfs');
    if (!DATA_DIR) return skip(NO_MOUNT);
    expect(refusal(await runCommand(['start'], { DATA_DIR }))).toMatch(
      /readonly cannot be written: EROFS.*\(data_folder_unusable\)$/,
    );
  });

  it('a disk that is full from the start', async ({ skip }) => {
    const DATA_DIR = mount(join(temporaryFolder(), 'small'), '-t', 'tmpfs', '-o', 'size=2m', 'tmpfs');
    if (!DATA_DIR) return skip(NO_MOUNT);
    expect(refusal(await runCommand(['start'], { DATA_DIR }))).toMatch(/No space left on device/);
  });

  it('a folder of another running process: names the process and the remedy', async () => {
    const node = await startNode(20);
    const settings = settingsFor(node.url);
    const first = await startProgram(settings).answers();
    const pid = readFileSync(join(settings.DATA_DIR, 'pid'), 'utf8');
    expect(refusal(await runCommand(['start'], settings))).toMatch(
      new RegExp(
        `Another verustream \\(process ${pid}\\) uses .* wait for it; otherwise stop it, or set DATA_DIR .*\\(data_folder_busy\\)$`,
      ),
    );
    await untilServed(first, node);
    expect(first.complaints()).toEqual([]);
  });
});

describe('a disk that fills up', () => {
  it('makes the stages wait and report the reason; once there is room they continue and nothing is missing', async ({
    skip,
  }) => {
    const node = await startNode(60);
    const settings = settingsFor(node.url);
    if (!mount(settings.DATA_DIR, '-t', 'tmpfs', '-o', 'size=400m', 'tmpfs')) return skip(NO_MOUNT);
    const program = await startProgram(settings).answers();
    await untilServed(program, node);
    const ballast = join(settings.DATA_DIR, 'ballast');
    node.advanceTo(400);
    await until('derive is under way', async () => (await servedHeight(program)) > 60);
    fill(ballast);
    node.advanceTo(450); // wherever derive was, there is more to write
    const full = () => program.complaints().filter((line) => /no space|not enough space/i.test(JSON.stringify(line)));
    await until('the full disk is complained about', () => full().length > 0);
    await sleep(2000); // enough for several attempts
    expect(
      full().filter(({ level }) => level > 40),
      'no stage stops for good',
    ).toEqual([]);
    expect(await program.get('/api/blocks/60')).toMatchObject({ status: 200 });
    rmSync(ballast);
    await untilServed(program, node);
    expect(await runCommand(['verify'], settings)).toMatchObject({ code: 0 });
    expect(await runCommand(['audit'], settings)).toMatchObject({ code: 0 });
    await program.kill('SIGTERM');
    expect(await leftBy(settings)).toMatchObject({ heights: 451, records: 451 });
  });
});

/** Fills all remaining space. */
function fill(file: string): void {
  const chunk = Buffer.alloc(1 << 20);
  const descriptor = openSync(file, 'w');
  for (const size of [chunk.length, 4096]) {
    try {
      for (;;) writeSync(descriptor, chunk, 0, size);
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' });
    }
  }
  closeSync(descriptor);
}

describe('a log that is damaged while nothing runs', () => {
  let node: RecordedNode;
  let settings: ReturnType<typeof settingsFor>;
  let file: string;
  let whole: string;

  beforeAll(async () => {
    node = await startNode(60);
    settings = settingsFor(node.url);
    const program = await startProgram(settings).answers();
    await untilServed(program, node);
    await program.kill('SIGTERM');
    file = join(settings.DATA_DIR, 'log/blocks.vrsc.sqlite');
    whole = join(temporaryFolder(), 'whole.sqlite');
    copyFileSync(file, whole);
    node.advanceTo(70);
  });

  it.each<[string, () => void]>([
    ['flipped bytes at its end', () => flip(file, statSync(file).size - 2000)],
    ['a cut in its last page', () => truncateSync(file, statSync(file).size - 5000)],
    ['a cut of its last pages', () => truncateSync(file, statSync(file).size - 5 * 16384)],
    ['nothing left of it', () => truncateSync(file, 0)],
  ])('%s: the chain stops and says so, serves what it has, and touches nothing', async (_, damage) => {
    copyFileSync(whole, file);
    damage();
    const before = sha256(file);
    const program = await startProgram(settings).answers();
    await until('ready names the log', async () => {
      const { status, body } = await program.get('/api/health/ready');
      return status === 503 && body.includes('log_corrupt');
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${program.output()}`);
    });
    const tail = program.complaints().filter(({ code }) => code === 'log_corrupt');
    expect(tail.map(({ message }) => message)).toEqual([expect.stringMatching(/blocks\.vrsc\.sqlite.*[Rr]estore/)]);
    expect(await program.get('/api/blocks/60')).toMatchObject({ status: 200 });
    await program.kill('SIGTERM');
    expect(sha256(file), 'the file is as it was').toBe(before);
  });

  it('goes on when the log is restored', async () => {
    copyFileSync(whole, file);
    const program = await startProgram(settings).answers();
    await untilServed(program, node);
    expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
    expect(await runCommand(['verify'], settings)).toMatchObject({ code: 0 });
    expect(await leftBy(settings)).toMatchObject({ heights: 71, records: 71 });
  });

  it('with damaged ClickHouse data the program does not start and reports the remedy', async () => {
    const folder = join(settings.DATA_DIR, 'clickhouse');
    const kept = join(temporaryFolder(), 'kept');
    cpSync(folder, kept, { recursive: true, verbatimSymlinks: true });
    for (const marks of globSync('store/*/*/all_*/data.cmrk4', { cwd: folder })) truncateSync(join(folder, marks), 0);
    expect(refusal(await runCommand(['start'], settings))).toMatch(
      /verustream\.blocks .*remove the folder clickhouse of DATA_DIR.*\(clickhouse_damaged\)$/,
    );
    rmSync(folder, { recursive: true });
    cpSync(kept, folder, { recursive: true, verbatimSymlinks: true });
  });

  it('with flipped bytes in ClickHouse data, requests fail in time with the reason, readiness names it, and all else answers', async () => {
    const folder = join(settings.DATA_DIR, 'clickhouse');
    const kept = join(temporaryFolder(), 'kept');
    cpSync(folder, kept, { recursive: true, verbatimSymlinks: true });
    for (const data of globSync('store/*/*/*_*/data.bin', { cwd: folder }).map((file) => join(folder, file))) {
      // Without its list of migrations the program would not start, so that table stays intact.
      const isDerived = !readFileSync(join(dirname(data), 'columns.txt'), 'utf8').includes('sha256');
      if (isDerived) for (let at = 0; at < statSync(data).size; at += 64) flip(data, at); // in each of its columns
    }
    const program = await startProgram(settings).answers();
    const paths = ['/api/stats/status', '/api/stats/charts?metric=transactions', '/api/stats/charts?metric=difficulty'];
    for (const path of [...paths, ...paths]) {
      const { status, body } = await program.get(path);
      expect({ path, status, body }).toMatchObject({
        status: 503,
        body: expect.stringMatching(/"code":"(store_damaged|query_too_slow|unavailable)"/),
      });
    }
    await until('ready names the damage', async () => {
      const { status, body } = await program.get('/api/health/ready');
      return status === 503 && body.includes('"clickhouse_damaged"') && !body.includes(folder);
    });
    expect(await program.get('/api/blocks/60')).toMatchObject({ status: 200 });
    expect(await runCommand(['audit'], settings)).toMatchObject({
      code: 1,
      output: expect.stringMatching('cannot read what it stored'),
    });
    await program.kill('SIGTERM');
    rmSync(folder, { recursive: true });
    cpSync(kept, folder, { recursive: true, verbatimSymlinks: true });
  });

  it('is sufficient: removed stores are rebuilt from it, byte for byte', async () => {
    const before = await leftBy(settings);
    for (const store of ['postgres', 'clickhouse']) rmSync(join(settings.DATA_DIR, store), { recursive: true });
    const program = await startProgram(settings).answers();
    await untilServed(program, node);
    await program.kill('SIGTERM');
    expect(await leftBy(settings)).toEqual(before);
  });
});

function flip(file: string, offset: number): void {
  const bytes = readFileSync(file);
  for (let at = offset; at < Math.min(offset + 16, bytes.length); at++) bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  writeFileSync(file, bytes);
}

const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
