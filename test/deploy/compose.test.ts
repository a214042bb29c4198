/** What can be checked of the deployment without a container engine: schemas, names, versions, secrets, the Dockerfiles. */

import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { validate } from 'dockerfile-utils';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { ROOT } from '../house/source-files.ts';
import { CLICKHOUSE_IMAGE, POSTGRES_IMAGE } from '../support/infra/container-servers.ts';
import { kafkaJars } from '../support/infra/event-log/kafka/test-broker/kafka-jars.ts';
import { createTestStores } from '../support/infra/test-stores.ts';
import { temporaryFolder } from '../system/recorded-chain.ts';
import { compose, demoSecret, IMAGE, roles, textOf } from './compose-file.ts';

const services = Object.entries(compose.services);

describe('docker-compose.yml', () => {
  it('conforms to the specification', () => {
    // Ajv knows draft 7 by another spelling of its URL.
    const { $schema: _, ...schema } = JSON.parse(textOf('node_modules/dclint/schemas/compose.schema.json'));
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
    const holds = ajv.compile(schema);
    holds(compose);
    expect(holds.errors ?? []).toEqual([]);
    expect(holds({ services: { a: { imagee: 'x' } } }), 'the schema refuses what is wrong').toBe(false);
  });

  it('starts the demo by default, and only the stores by profile', () => {
    expect(textOf('.env')).toMatch(/^COMPOSE_PROFILES=demo$/m);
    const withProfile = (profile: string) =>
      services.filter(([, { profiles }]) => profiles?.includes(profile)).map(([name]) => name);
    expect(withProfile('stores')).toEqual(['kafka', 'clickhouse', 'postgres']);
    expect(withProfile('demo')).toEqual(
      expect.arrayContaining(['tail', 'derive', 'price', 'serve-1', 'serve-2', 'proxy', 'daemon', 'grafana']),
    );
    expect(withProfile('daemons')).not.toContain('daemon');
    expect(
      services.filter(([, { profiles }]) => !profiles?.length).map(([name]) => name),
      'started by every profile',
    ).toEqual([]);
  });

  it('gives services that others wait for an hour to start', () => {
    const inImage = /^HEALTHCHECK .*--start-period=(\w+) /m.exec(textOf('Dockerfile'))?.[1];
    const awaited = services.flatMap(([, { depends_on: needed = {} }]) =>
      Object.entries(needed).flatMap(([name, { condition }]) => (condition === 'service_healthy' ? [name] : [])),
    );
    expect(new Set(awaited)).toEqual(new Set(['kafka', 'clickhouse', 'postgres', 'serve-1', 'serve-2']));
    for (const name of awaited) {
      const { image, healthcheck } = compose.services[name] ?? {};
      expect(healthcheck?.start_period ?? (image === IMAGE ? inImage : undefined), name).toBe('1h');
    }
  });

  it('gives every service a restart policy and a memory limit, and publishes ports only on this machine', () => {
    for (const [name, { restart, deploy, ports = [] }] of services) {
      expect(restart, name).toBe('unless-stopped');
      expect(deploy?.resources.limits.memory, name).toMatch(/^\d+[MG]$/);
      for (const port of ports) expect(port, name).toMatch(/^127\.0\.0\.1:/);
    }
  });

  it('limits the log size and the processes of every service, and prevents new privileges', () => {
    for (const [name, { logging, pids_limit, security_opt }] of services) {
      expect(logging?.options, name).toMatchObject({
        'max-size': expect.stringMatching(/^\d+m$/),
        'max-file': expect.any(String),
      });
      expect(pids_limit, name).toBeGreaterThan(0);
      expect(security_opt, name).toContain('no-new-privileges:true');
    }
  });

  it('requires a password for Grafana, and limits the storage of Prometheus', () => {
    expect(JSON.stringify(compose.services.grafana?.environment)).not.toMatch(/ANONYMOUS/);
    expect(compose.services.prometheus?.command?.join()).toMatch(/--storage\.tsdb\.retention\.size=\d+GB/);
  });

  it('trusts only the outer proxy for client addresses', () => {
    const [network] = compose.networks.default.ipam.config;
    const believed = [...textOf('infra/deploy/proxy/nginx.conf').matchAll(/set_real_ip_from (\S+);/g)];
    expect(believed.map(([, address]) => address)).toEqual([network?.gateway]);
  });

  it('runs the image without capabilities, on a read-only file system', () => {
    expect(roles.length).toBe(6);
    for (const [name, service] of roles) expect(service, name).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
  });

  it('names only existing services, secrets, volumes and files', () => {
    for (const [name, service] of services) {
      const needed = Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {});
      expect(Object.keys(compose.services), name).toEqual(expect.arrayContaining(needed));
      expect(Object.keys(compose.secrets), name).toEqual(expect.arrayContaining([...(service.secrets ?? [])]));
      for (const volume of service.volumes ?? []) {
        const [source = ''] = volume.split(':');
        const isThere = source.startsWith('.') ? existsSync(join(ROOT, source)) : source in compose.volumes;
        expect(isThere, `${name}: ${volume}`).toBe(true);
      }
    }
    for (const secret of Object.keys(compose.secrets)) {
      expect(existsSync(join(ROOT, demoSecret(secret))), secret).toBe(true);
      expect(existsSync(join(ROOT, demoSecret(secret).replace('/demo/', '/mainnet/'))), secret).toBe(true);
    }
  });

  it.each(['demo', 'mainnet'])('%s: the passwords and hosts of servers and URLs agree', (set) => {
    const read = (name: string) => textOf(demoSecret(name).replace('/demo/', `/${set}/`)).trim();
    const file = JSON.parse(read('verustream.json')) as {
      chains: { rpc: string }[];
      databaseUrl: string;
      clickhouseUrl: string;
    };
    const [database, clickhouse] = [new URL(file.databaseUrl), new URL(file.clickhouseUrl)];
    expect([database.password, clickhouse.password]).toEqual([read('postgres-password'), read('clickhouse-password')]);
    expect(compose.services[database.hostname]?.environment).toMatchObject({
      POSTGRES_USER: database.username,
      POSTGRES_DB: database.pathname.slice(1),
    });
    expect(compose.services[clickhouse.hostname]?.environment).toMatchObject({
      CLICKHOUSE_USER: clickhouse.username,
      CLICKHOUSE_DB: clickhouse.pathname.slice(1),
    });
    for (const { rpc } of file.chains) expect(Object.keys(compose.services)).toContain(new URL(rpc).hostname);
    if (set === 'demo') {
      const fromOutside = (url: string) => url.replace(/@\w+:/, '@127.0.0.1:');
      expect(textOf('README.md')).toContain(`DATABASE_URL=${fromOutside(file.databaseUrl)} `);
      expect(textOf('README.md')).toContain(`CLICKHOUSE_URL=${fromOutside(file.clickhouseUrl)} `);
      return;
    }
    const offered = services.flatMap(([, { command = [] }]) =>
      command.flatMap((word) => /^-rpcport=(\d+)$/.exec(word)?.[1] ?? []),
    );
    expect(file.chains.map(({ rpc }) => new URL(rpc).port)).toEqual(offered);
    expect(read('verusd.conf')).toContain(`rpcpassword=${new URL(file.chains[0]?.rpc ?? '').password}\n`);
  });

  it('runs the same store versions as the tests', async () => {
    const image = (name: string) => compose.services[name]?.image;
    const kafka = /<kafka.version>(.*)<\/kafka.version>/.exec(
      textOf('test/support/infra/event-log/kafka/test-broker/pom.xml'),
    )?.[1];
    expect(image('kafka')).toBe(`apache/kafka:${kafka}`);
    expect(textOf('test/support/infra/event-log/kafka/test-broker/docker-broker.ts')).toContain(`'${image('kafka')}'`);
    const stores = await createTestStores();
    const [engine] = await stores.clickhouse.rows(rowReader({ version: columns.text }), 'SELECT version() AS version');
    expect(image('clickhouse')).toBe(
      `clickhouse/clickhouse-server:${engine?.version.split('.').slice(0, 2).join('.')}`,
    );
    const { rows } = await stores.postgres.pool.query('SHOW server_version');
    expect(image('postgres')).toBe(`postgres:${String(rows[0].server_version).split(' ')[0]}`);
    expect([image('postgres'), image('clickhouse')]).toEqual([POSTGRES_IMAGE, CLICKHOUSE_IMAGE]);
    await stores.close();
  });
});

const jars = kafkaJars();

describe('the programs around the services', () => {
  it.skipIf(!jars)('Kafka accepts its settings', () => {
    const folder = temporaryFolder();
    const settings = Object.entries(compose.services.kafka?.environment ?? {})
      .map(([name, value]) => [
        name
          .replace(/^KAFKA_/, '')
          .toLowerCase()
          .replaceAll('_', '.'),
        value,
      ])
      .map(([name, value]) => `${name}=${name === 'log.dirs' ? join(folder, 'data') : value}`);
    const file = join(folder, 'server.properties');
    writeFileSync(file, settings.join('\n'));
    const tool = [
      '-cp',
      join(jars ?? '', '*'),
      'kafka.tools.StorageTool',
      'format',
      '--cluster-id=MkU3OEVBNTcwNTJENDM2Qg',
      '-c',
      file,
    ];
    const { status, stdout, stderr } = spawnSync('java', ['-XX:TieredStopAtLevel=1', ...tool], { encoding: 'utf8' });
    expect(status, stdout + stderr).toBe(0);
  });

  it('the proxy lists every process that serves', () => {
    const upstreams = [...textOf('infra/deploy/proxy/nginx.conf').matchAll(/^ +server ([\w-]+):(\d+) max_fails=0;/gm)];
    expect(upstreams.map(([, host]) => host)).toEqual(
      roles.filter(([, { environment }]) => environment?.ROLES === 'serve').map(([name]) => name),
    );
  });

  it('Prometheus scrapes every role at its port', () => {
    const { scrape_configs } = parse(textOf('infra/deploy/prometheus/prometheus.yml')) as {
      scrape_configs: { static_configs: { targets: string[]; labels: { role: string } }[] }[];
    };
    const scraped = scrape_configs.flatMap(({ static_configs }) =>
      static_configs.flatMap(({ targets, labels }) => targets.map((target) => ({ target, role: labels.role }))),
    );
    const ours = roles.filter(([, { environment }]) => environment?.ROLES !== undefined);
    expect(scraped).toEqual(
      ours.map(([name, { environment }]) => ({
        target: `${name}:${environment?.METRICS_PORT}`,
        role: environment?.ROLES,
      })),
    );
  });

  it.each(['Dockerfile', 'infra/deploy/verusd/Dockerfile'])('%s passes a linter', (path) => {
    const problems = validate(textOf(path)).map(({ message, range }) => `${range.start.line + 1}: ${message}`);
    expect(problems).toEqual([]);
  });

  it('the image runs the program with the options and the environment of the launcher', async () => {
    const { nodeEnvironment, nodeOptions } = (await import(
      new URL('../../infra/launch/node-options.mjs', import.meta.url).href
    )) as {
      nodeEnvironment: Record<string, string>;
      nodeOptions: string[];
    };
    const entry = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(textOf('Dockerfile'))?.[1] ?? '[]') as string[];
    const inImage = nodeOptions.map((option) => option.replace(/^file:.*\/infra\//, '/app/infra/'));
    expect(entry).toEqual(['node', ...inImage, 'verustream.ts']);
    for (const [name, value] of Object.entries(nodeEnvironment)) {
      expect(textOf('Dockerfile')).toMatch(new RegExp(`^ENV .*\\b${name}=${value}\\b`, 'm'));
    }
    expect(compose.services.daemon?.image).toBe(IMAGE);
  });
});
