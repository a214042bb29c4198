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
