/** A real Postgres that this process runs in the data folder: the default without DATABASE_URL. */
import { resolve } from 'node:path';
import type { Logger } from '../../logger.ts';
import { memoryBytes } from '../../memory.ts';
import { createClient } from '../typed-client.ts';
import { type ServerAddress, serverAddress } from './address.ts';
import { postgresBinaries } from './binaries.ts';
import { openCluster } from './cluster.ts';
import { endLeftover } from './leftover.ts';
import { SERVICE_ROLE } from './roles.ts';
import { runServer } from './server-process.ts';
import { dataArgument, unprivileged } from './server-user.ts';
import { settingArguments } from './single-user.ts';

export interface EmbeddedPostgres {
  /** URL of the cluster's maintenance database. */
  readonly url: string;
  urlOf(database: string): string;
  /** Creates the database, if it does not exist, as a copy of `template`, which must have no connections. */
  createDatabase(name: string, template?: string): Promise<void>;
  stop(): Promise<void>;
}

/** A sixteenth of the memory, for the current rows and the inner pages of indexes, which are read again and again. */
export function bufferMiB(memory: number): number {
  return Math.min(1024, Math.max(128, Math.round(memory / 16 / 2 ** 20)));
}

const SETTINGS = {
  max_connections: 100,
  random_page_cost: 1.1, // for disks without seek time; with the default, 4, Postgres scans small tables instead of using an index
  shared_buffers: `${bufferMiB(memoryBytes())}MB`,
  wal_level: 'minimal',
  max_wal_senders: 0,
  // Bounds the WAL that a start after a kill replays; longer pauses between checkpoints made nothing faster.
  max_wal_size: '512MB',
  checkpoint_timeout: '2min',
  unix_socket_permissions: '0700',
  log_min_messages: 'warning',
  log_timezone: 'UTC',
  timezone: 'UTC',
};

/**
 * Starts the cluster in `folder`, which is created if new, and keeps it running. Ends a server that a killed process left behind.
 */
export async function startEmbeddedPostgres(folder: string, logger: Logger): Promise<EmbeddedPostgres> {
  const data = resolve(folder);
  await endLeftover(data, logger);
  const binaries = await postgresBinaries(logger);
  const removals = [() => binaries.remove()];
  const remove = () => removals.forEach((each) => void each());
  try {
    const { user, password } = await openCluster(binaries, data, SETTINGS, logger);
    const address = await serverAddress(data, user);
    removals.push(() => address.remove());
    const urlOf = (database: string) => databaseUrl(address, password, database);
    const args = ['-D', dataArgument(data), ...settingArguments({ ...SETTINGS, ...address.settings })];
    const command = unprivileged(binaries.postgres, args, user, data);
    const server = await runServer({ command, url: urlOf('postgres'), socket: address.socket, data, logger });
    return {
      url: urlOf('postgres'),
      urlOf,
      createDatabase: (name, template) => createDatabase(urlOf('postgres'), name, template),
      stop: () => server.stop().finally(remove),
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** A folder in place of the host means the socket in that folder. */
function databaseUrl({ host, port }: ServerAddress, password: string, database: string): string {
  return `postgresql://${SERVICE_ROLE}:${password}@${encodeURIComponent(host)}:${port}/${database}`;
}

async function createDatabase(url: string, name: string, template = 'template1'): Promise<void> {
  const client = createClient({ connectionString: url }, { connectMs: null, statementMs: null, silentMs: null });
  client.on('error', () => undefined); // its statements reject
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    const [made, model] = [name, template].map((each) => client.escapeIdentifier(each));
    if (rowCount === 0) await client.query(`CREATE DATABASE ${made} TEMPLATE ${model}`);
  } finally {
    await client.end();
  }
}
