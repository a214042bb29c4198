/** The programs accept the configuration that docs/operate.md tells an operator to write. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../infra/config/load-config.ts';
import { temporaryFolder } from '../system/recorded-chain.ts';
import { compose, textOf } from './compose-file.ts';
import { isInstalled } from './topology.ts';

const guide = textOf('docs/operate.md');

function found(pattern: RegExp): string {
  const [, text] = pattern.exec(guide) ?? [];
  if (text === undefined) throw new Error(`docs/operate.md has no ${pattern}`);
  return text;
}

it('the configuration of one machine is accepted, and names the ports of the table', () => {
  const file = join(temporaryFolder(), 'verustream.json');
  writeFileSync(file, found(/<<'JSON'\n([\s\S]*?)\nJSON\n/));
  const { chains, demo } = loadConfig({ VERUSTREAM_CONFIG: file });
  expect(demo).toBe(false);
  const ports = chains.map(({ rootCurrency, rpc }) => [rootCurrency, new URL(String(rpc)).port]);
  expect(ports).toEqual([...guide.matchAll(/^\| \w+ \| `verusd -chain=(\w+)` \| (\d+) \|/gm)].map(([, ...row]) => row));
  const offered = Object.values(compose.services).flatMap(({ command = [] }) => {
    const [chain, , port] = command.map((word) => word.split('=')[1]);
    return command[0]?.startsWith('-chain=') ? [[chain, port]] : [];
  });
  expect(offered).toEqual(ports);
});

it('the unit lets the service stop the embedded Postgres', () => {
  expect(found(/^(\[Service\]\n[\s\S]*?)\[Install\]/m).split('\n')).toContain('KillMode=mixed');
});

it.skipIf(!isInstalled('nginx'))('nginx accepts its configuration', () => {
  const folder = temporaryFolder();
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const subject = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=verus.example.org', '-days', '1'];
  expect(spawnSync('openssl', ['req', ...subject, '-keyout', key, '-out', certificate])).toMatchObject({ status: 0 });
  const site = found(/```nginx\n([\s\S]*?)\n```/)
    .replace(/ssl_certificate \S+;/, `ssl_certificate ${certificate};`)
    .replace(/ssl_certificate_key \S+;/, `ssl_certificate_key ${key};`);
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, `pid ${folder}/nginx.pid;\nevents {}\nhttp {\n${site}\n}\n`);
  const { status, stderr } = spawnSync('nginx', ['-t', '-e', 'stderr', '-c', file], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
});
