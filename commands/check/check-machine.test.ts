/** `check` of a data folder that the service could not use. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../../infra/config/load-config.ts';
import { checkMachine } from './check-machine.ts';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'verustream-machine-'));
  writeFileSync(join(root, 'file'), '');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function verdicts(name: string) {
  const findings = await checkMachine(loadConfig({ DATA_DIR: join(root, name), PORT: '0' }));
  return findings.filter(({ subject }) => subject === 'data folder').map(({ verdict, says }) => `${verdict} ${says}`);
}

it('accepts a folder that is missing', async () => {
  expect(await verdicts('new/data')).toContain(`right ${join(root, 'new/data')} will be created at start`);
});

it.each(['file', 'file/data'])('reports %s as wrong, where a file is in the way', async (name) => {
  const found = await verdicts(name);
  expect(found).toContainEqual(expect.stringMatching(/^wrong .* cannot be written: E.*\(data_folder_unusable\)$/));
  expect(found).not.toContainEqual(expect.stringMatching(/^right .*(will be created|is free and closed)/));
});
