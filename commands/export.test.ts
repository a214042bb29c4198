/** An export into a folder that cannot be written says what to do; test/datasets/full-disk.test.ts fills a disk. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../infra/config/load-config.ts';
import type { Stores } from '../infra/stores.ts';
import { collectedOutput } from '../test/support/commands/collected-output.ts';
import { run } from './export.ts';

const CONTEXT = { config: loadConfig({}), stores: {} as Stores, signal: new AbortController().signal };

it.each([
  [{ from: 'May' }, '--from takes a UTC day such as 2026-05-01, not "May"'],
  [{ to: '2026-02-30' }, '--to takes a UTC day such as 2026-05-01, not "2026-02-30"'],
  [{ from: '2026-06-01', to: '2026-06-01' }, '--from 2026-06-01 is not before --to 2026-06-01'],
])('refuses the range %j', async (range, message) => {
  const input = { destination: '/nowhere/out', ...range };
  await expect(run(CONTEXT, input, collectedOutput().output)).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining(message),
  });
});

it.each(['file', 'file/out'])('refuses %s, where a file is in the way', async (path) => {
  const folder = mkdtempSync(join(tmpdir(), 'verustream-unwritable-'));
  writeFileSync(join(folder, 'file'), '');
  const destination = join(folder, path);
  const input = { destination, tables: undefined, chains: undefined };
  await expect(run(CONTEXT, input, collectedOutput().output)).rejects.toMatchObject({
    code: 'export_unwritable',
    message: expect.stringMatching(new RegExp(`^Files .* into ${destination}: E.*make it writable`)),
  });
});
