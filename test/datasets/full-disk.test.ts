/** `verustream export` onto a disk that is too small. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { run as exportData } from '../../commands/export.ts';
import { type RunningService, startService } from '../api/running-service.ts';
import { collectedOutput } from '../support/commands/collected-output.ts';
import { temporaryFolder } from '../system/recorded-chain.ts';

const folder = join(temporaryFolder(), 'small');
let isMounted = false;
let service: RunningService | undefined;
afterAll(async () => {
  await service?.stop();
  if (isMounted) execFileSync('umount', ['--lazy', folder]);
});

it('says that the disk is full and what to do, and goes on when there is room', async ({ skip }) => {
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200k', 'tmpfs', folder], { stdio: 'ignore' });
    isMounted = true;
  } catch {
    return skip('this user may not mount a file system');
  }
  service = await startService({ startHeight: 700 });
  await service.settled(true);
  const { context } = service;
  const exported = () =>
    exportData(context, { destination: folder, tables: undefined, chains: undefined }, collectedOutput().output);
  await expect(exported()).rejects.toMatchObject({
    code: 'export_unwritable',
    message: expect.stringMatching(new RegExp(`into ${folder}: .*no space left.*Free space`)),
  });
  execFileSync('mount', ['-o', 'remount,size=20m', folder]);
  expect(await exported()).toMatchObject({ exitCode: 0 });
}, 300_000);
