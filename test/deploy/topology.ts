/**
 * Runs the deployment of docker-compose.yml as processes, with its services, settings and proxy; only addresses are those of this machine.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reservePort } from '../support/infra/reserved-port.ts';
import { type Program, type ProgramSettings, startProgram, until } from '../system/program.ts';
import { UNLIMITED } from '../system/recorded-chain.ts';
import { type ComposeService, demoSecret, imageEnvironment, roles, textOf } from './compose-file.ts';

/** Replacements of the file's stores, by name and port in the file. */
export type ServiceAddresses = Readonly<Record<'kafka:29092' | 'postgres:5432' | 'clickhouse:8123', string>>;

export interface Topology {
  readonly programs: ReadonlyMap<string, Program>;
  /** host:port of /metrics, by service. */
  readonly metrics: ReadonlyMap<string, string>;
  /** Settings for commands on the same stores. */
  readonly settings: ProgramSettings;
}

/** Keeps its files in `folder`. All processes end with the test or its file. */
export async function startTopology(folder: string, addresses: ServiceAddresses): Promise<Topology> {
  const { port: daemonPort } = await reservePort();
  const replace = (text: string): string => {
    const known = { ...addresses, 'daemon:27486': `127.0.0.1:${daemonPort}` };
    return Object.entries(known).reduce((all, [from, to]) => all.replaceAll(from, to), text);
  };
  // User, password and database are those of the replacement servers.
  const secret = JSON.parse(replace(textOf(demoSecret('verustream.json')))) as Record<string, unknown>;
  const file = join(folder, 'verustream.json');
  const databases = { databaseUrl: addresses['postgres:5432'], clickhouseUrl: addresses['clickhouse:8123'] };
  writeFileSync(file, JSON.stringify({ ...secret, ...databases, ...UNLIMITED }));

  function settingsOf(name: string, { environment = {} }: ComposeService): ProgramSettings {
    const given = Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, replace(String(value))]));
    const own = {
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: join(folder, name),
      VERUSTREAM_CONFIG: file,
      ...(given.METRICS_PORT && { METRICS_PORT: '0' }),
      ...(given.TRUSTED_PROXIES && { TRUSTED_PROXIES: '127.0.0.1' }),
    };
    return { ...imageEnvironment(), ...given, ...own };
  }

  const programs = new Map<string, Program>();
  const metrics = new Map<string, string>();
  for (const [name, service] of roles) {
    const args = service.command ?? ['start'];
    programs.set(name, startProgram(settingsOf(name, service), { lives: 'file', args }));
  }
  for (const [name, { environment }] of roles) {
    const program = programs.get(name);
    if (!program || !environment?.METRICS_PORT) continue;
    const metricsPort = () => /"port":(\d+),"msg":"metrics are served"/.exec(program.output())?.[1];
    await until(`${name} serves its metrics`, () => metricsPort() !== undefined).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${program.output()}`);
    });
    metrics.set(name, `127.0.0.1:${metricsPort()}`);
    if (environment.ROLES?.includes('serve')) await program.answers();
  }
  const [, any] = roles.find(([, { environment }]) => environment?.ROLES === 'tail') ?? [];
  const { ROLES: _, METRICS_PORT: __, ...settings } = any ? settingsOf('commands', any) : {};
  return { programs, metrics, settings };
}

export const isInstalled = (program: string): boolean => spawnSync('which', [program]).status === 0;

/** Starts nginx with the deployment's configuration in front of processes at these host:port addresses. Returns its base URL. */
export async function startProxy(folder: string, upstreams: ReadonlyMap<string, string>): Promise<Started> {
  const { port } = await reservePort();
  let text = textOf('infra/deploy/proxy/nginx.conf').replace('listen 8080;', `listen 127.0.0.1:${port};`);
  for (const [name, address] of upstreams) text = text.replace(`server ${name}:8080`, `server ${address}`);
  mkdirSync(folder);
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, text.replaceAll('/tmp/', `${folder}/`));
  return startChild('nginx', ['-c', file, '-p', folder, '-e', 'stderr', '-g', 'daemon off;'], port, '/api/health');
}

/** Starts Prometheus with the deployment's configuration, scraping these host:port addresses. Returns its base URL. */
export async function startPrometheus(folder: string, targets: ReadonlyMap<string, string>): Promise<Started> {
  const { port } = await reservePort();
  let text = textOf('infra/deploy/prometheus/prometheus.yml');
  for (const [name, address] of targets) text = text.replace(`${name}:9464`, address);
  mkdirSync(folder);
  const file = join(folder, 'prometheus.yml');
  writeFileSync(file, text.replace(/: 5s/g, ': 1s'));
  // Shortens the `for` durations of the rules.
  const rules = textOf('infra/deploy/prometheus/alerts.yml').replace(/for: \d+[sm]/g, 'for: 2s');
  writeFileSync(join(folder, 'alerts.yml'), rules);
  const args = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  return startChild('prometheus', args, port, '/-/ready');
}

export interface Started {
  readonly base: string;
  stop(): Promise<void>;
}

async function startChild(program: string, args: readonly string[], port: number, ready: string): Promise<Started> {
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const base = `http://127.0.0.1:${port}`;
  await until(`${program} answers`, async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${said}`);
    return fetch(base + ready).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return {
    base,
    async stop() {
      process.off('exit', kill);
      child.kill('SIGTERM');
      await ended;
    },
  };
}
