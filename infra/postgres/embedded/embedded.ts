/** Real Postgres, run by this process in the data folder: the default when no DATABASE_URL is given. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { PermanentError } from '../../../schemas/errors.ts';
import { freePort } from '../../free-port.ts';
import type { Logger } from '../../logger.ts';
import { postgresBinaries } from './binaries.ts';
import { endLeftover } from './leftover.ts';
import { runServer } from './server-process.ts';
import { giveToPostgres, unprivileged } from './unprivileged.ts';

export interface EmbeddedPostgres {
  /** Of the cluster's maintenance database. */
  readonly url: string;
  urlOf(database: string): string;
  /** Unless there is one; a copy of `template`, to which nobody may be connected. */
  createDatabase(name: string, template?: string): Promise<void>;
  stop(): Promise<void>;
}

const SETTINGS = {
  max_connections: 100,
  random_page_cost: 1.1, // no disk that seeks; theirs, 4, makes small tables be read whole instead of by index
  shared_buffers: '128MB',
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  log_min_messages: 'warning',
  log_timezone: 'UTC',
  timezone: 'UTC',
};

/**
 * Starts the cluster in `folder`, making it first when it is new, and keeps it running. Ends a server that a killed process
 * left behind.
 */
export async function startEmbeddedPostgres(folder: string, logger: Logger): Promise<EmbeddedPostgres> {
  const binaries = await postgresBinaries();
  const data = resolve(folder);
  await endLeftover(data, logger);
  if (!existsSync(join(data, 'PG_VERSION'))) await initialise(binaries.initdb, data);
  const port = await freePort();
  const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = unprivileged(binaries.postgres, ['-D', data, ...settings]);
  const server = await runServer(command, port, logger);
  const urlOf = (database: string) => `postgresql://verustream@127.0.0.1:${port}/${database}`;
  return {
    url: urlOf('postgres'),
    urlOf,
    createDatabase: (name, template) => createDatabase(urlOf('postgres'), name, template),
    stop: () => server.stop(),
  };
}

async function initialise(initdb: string, data: string): Promise<void> {
  await rm(data, { recursive: true, force: true }); // what an interrupted initdb left
  mkdirSync(data, { recursive: true, mode: 0o700 });
  giveToPostgres(data);
  const command = unprivileged(initdb, ['-D', data, '-U', 'verustream', '-A', 'trust', '-E', 'UTF8', '--locale=C']);
  try {
    await promisify(execFile)(command.file, [...command.args]);
  } catch (cause) {
    const said = ((cause as { stderr?: string }).stderr ?? String(cause)).trim().replaceAll(/\s*\n\s*/g, '; ');
    throw new PermanentError('postgres_init_failed', `The embedded Postgres cannot be made in ${data}: ${said}`, {
      cause,
    });
  }
}

async function createDatabase(url: string, name: string, template = 'template1'): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    const [made, model] = [name, template].map((each) => client.escapeIdentifier(each));
    if (rowCount === 0) await client.query(`CREATE DATABASE ${made} TEMPLATE ${model}`);
  } finally {
    await client.end();
  }
}
