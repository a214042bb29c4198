/** Postgres and ClickHouse themselves, in containers: for tests on a machine with a Docker engine. They end with this process. */
import { spawnSync } from 'node:child_process';
import { pino } from 'pino';
import { connectClickHouse } from '../../../infra/clickhouse/server.ts';
import { connectPostgres } from '../../../infra/postgres/postgres.ts';

export const POSTGRES_IMAGE = 'postgres:18.4';
export const CLICKHOUSE_IMAGE = 'clickhouse/clickhouse-server:26.7';

export interface ContainerServers {
  /** Of a database of Postgres. */
  urlOf(database: string): string;
  /** Empty, or a copy of `template`, to which nobody may be connected. */
  createDatabase(name: string, template?: string): Promise<void>;
  /** Address of a Postgres database that always exists. */
  readonly url: string;
  /** Of a database of ClickHouse, which is made unless it is there. */
  clickhouseUrlOf(database: string): Promise<string>;
  stop(): Promise<void>;
}

const USER = 'verustream';
const PASSWORD = 'verustream';
const logger = pino({ level: 'silent' });

/** Asked for by TEST_STORES=containers. @throws Error when it is, and no engine answers */
export function wantsContainers(): boolean {
  if (process.env.TEST_STORES !== 'containers') return false;
  const engine = spawnSync('docker', ['info', '--format', '{{.ServerVersion}}'], { timeout: 10_000 });
  if (engine.status === 0) return true;
  throw new Error('TEST_STORES=containers needs a Docker engine, and none answers');
}

export async function startContainerServers(): Promise<ContainerServers> {
  // Loaded only here: it is large, and of no use without an engine.
  const { GenericContainer, Wait } = await import('testcontainers');
  const [postgres, clickhouse] = await Promise.all([
    new GenericContainer(POSTGRES_IMAGE)
      .withEnvironment({ POSTGRES_USER: USER, POSTGRES_PASSWORD: PASSWORD })
      .withCommand(['postgres', '-c', 'max_connections=300'])
      .withExposedPorts(5432)
      // It starts once to make its cluster, and then for everybody.
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
