import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { afterAll, expect, it } from 'vitest';
import { postgresBinaries, removeLeftCopy, usableBinaries } from './binaries.ts';
import { unprivileged } from './server-user.ts';

const logger = pino({ level: 'silent' });
const closed = mkdtempSync(join(tmpdir(), 'verustream-closed-'));
const isRoot = process.getuid?.() === 0 && process.platform === 'linux';

afterAll(() => rmSync(closed, { recursive: true, force: true }));

it.skipIf(!isRoot)(
  'programs in a folder only root may read run from a copy, which is removed (needs root)',
  async () => {
    const installed = await postgresBinaries(logger);
    cpSync(dirname(dirname(installed.postgres)), closed, { recursive: true, verbatimSymlinks: true });
    chmodSync(closed, 0o700);
    const there = { initdb: join(closed, 'bin/initdb'), postgres: join(closed, 'bin/postgres') };
    const usable = usableBinaries(there, logger);
    expect(usable.postgres).not.toBe(there.postgres);
    const { file, args, options } = unprivileged(usable.postgres, ['--version'], 61_200, '/');
    expect(spawnSync(file, args, { ...options, encoding: 'utf8' }).stdout).toMatch(/^postgres \(PostgreSQL\) 18/);
    removeLeftCopy(there.postgres);
    expect(existsSync(there.postgres), 'no copy of ours').toBe(true);
    removeLeftCopy(usable.postgres);
    expect(existsSync(usable.postgres)).toBe(false);
  },
);
