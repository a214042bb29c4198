/** `check` of data folders and ports that the service could not use. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../../infra/config/load-config.ts';
import { claimDataFolder } from '../../infra/data-folder/data-folder.ts';
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

it('reports a port of another verustream as wrong, but notes that of its own service', async () => {
  const other = createServer((_, response) => void response.end('{"status":"ok"}')).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const DATA_DIR = join(root, 'own');
  const found = async () => {
    const findings = await checkMachine(loadConfig({ DATA_DIR, PORT: String(port) }));
    return findings.find(({ subject }) => subject === 'port');
  };
  expect(await found()).toMatchObject({ verdict: 'wrong', says: expect.stringContaining('another data folder') });
  const folder = claimDataFolder(DATA_DIR);
  expect(await found()).toMatchObject({ verdict: 'note' });
  folder.release();
  other.close();
});
