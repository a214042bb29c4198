/** Real Postgres and ClickHouse servers in containers, for tests on a machine with a Docker engine. They end with this process. */
import { spawnSync } from 'node:child_process';
import { pino } from 'pino';
import { connectClickHouse } from '../../../infra/clickhouse/server.ts';
import { connectPostgres } from '../../../infra/postgres/postgres.ts';

export const POSTGRES_IMAGE = 'postgres:18.4';
export const CLICKHOUSE_IMAGE = 'clickhouse/clickhouse-server:26.7';

export interface ContainerServers {
  /** URL of a Postgres database. */
  urlOf(database: string): string;
  /** Creates an empty database, or a copy of `template`, which must have no connections. */
  createDatabase(name: string, template?: string): Promise<void>;
  /** URL of a Postgres database that always exists. */
  readonly url: string;
  /** URL of a ClickHouse database, created if it is missing. */
  clickhouseUrlOf(database: string): Promise<string>;
  stop(): Promise<void>;
}

const USER = 'verustream';
const PASSWORD = 'verustream';
const logger = pino({ level: 'silent' });

/** Returns whether TEST_STORES=containers is set. @throws Error if it is set and no Docker engine answers */
export function wantsContainers(): boolean {
  if (process.env.TEST_STORES !== 'containers') return false;
  const engine = spawnSync('docker', ['info', '--format', '{{.ServerVersion}}'], { timeout: 10_000 });
  if (engine.status === 0) return true;
  throw new Error('TEST_STORES=containers needs a Docker engine, and none answers');
}

export async function startContainerServers(): Promise<ContainerServers> {
  // Imported only here: the module is large and useless without an engine.
  const { GenericContainer, Wait } = await import('testcontainers');
  const [postgres, clickhouse] = await Promise.all([
    new GenericContainer(POSTGRES_IMAGE)
      .withEnvironment({ POSTGRES_USER: USER, POSTGRES_PASSWORD: PASSWORD })
      .withCommand(['postgres', '-c', 'max_connections=300'])
      .withExposedPorts(5432)
      // The log line appears twice: Postgres starts once to initialise its cluster, then again to serve.
      .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2))
      .start(),
    new GenericContainer(CLICKHOUSE_IMAGE)
      .withEnvironment({ CLICKHOUSE_USER: USER, CLICKHOUSE_PASSWORD: PASSWORD })
      .withExposedPorts(8123)
      .withWaitStrategy(Wait.forHttp('/ping', 8123))
      .start(),
  ]);
  const urlOf = (database: string) =>
    `postgres://${USER}:${PASSWORD}@${postgres.getHost()}:${postgres.getMappedPort(5432)}/${database}`;
  const clickhouseUrl = (database: string) =>
    `http://${USER}:${PASSWORD}@${clickhouse.getHost()}:${clickhouse.getMappedPort(8123)}/${database}`;
  return {
    urlOf,
    url: urlOf(USER),
    async createDatabase(name, template) {
      const server = await connectPostgres({ url: urlOf(USER), logger, maxConnections: 1 });
      await server.pool.query(`CREATE DATABASE ${name}${template ? ` TEMPLATE ${template}` : ''}`);
      await server.close();
    },
    async clickhouseUrlOf(database) {
      const server = await connectClickHouse(clickhouseUrl('default'), logger);
      await server.command(`CREATE DATABASE IF NOT EXISTS ${database}`);
      await server.close();
      return clickhouseUrl(database);
    },
    async stop() {
      await Promise.all([postgres.stop(), clickhouse.stop()]);
    },
  };
}
