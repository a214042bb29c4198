/** Real Postgres, run by this process in the data folder: the default when no DATABASE_URL is given. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { PermanentError } from '../../../schemas/errors.ts';
import type { Logger } from '../../logger.ts';
import { postgresBinaries } from './binaries.ts';
import { endLeftover } from './leftover.ts';
import { giveToPostgres, unprivileged } from './unprivileged.ts';

export interface EmbeddedPostgres {
  /** Of the cluster's maintenance database. */
  readonly url: string;
  urlOf(database: string): string;
  createDatabase(name: string): Promise<void>;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
const SETTINGS = {
  max_connections: 100,
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

/** Starts the cluster in `folder`, making it first when it is new. Ends a server that a killed process left behind. */
export async function startEmbeddedPostgres(folder: string, logger: Logger): Promise<EmbeddedPostgres> {
  const binaries = await postgresBinaries();
  const data = resolve(folder);
  await endLeftover(data, logger);
  if (!existsSync(join(data, 'PG_VERSION'))) await initialise(binaries.initdb, data);
  const port = await freePort();
  const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = unprivileged(binaries.postgres, ['-D', data, ...settings]);
  const server = spawn(command.file, command.args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const output = collectOutput(server, logger);
  process.once('exit', () => server.kill('SIGQUIT'));
  server.unref(); // a forgotten stop() must not keep the program alive
  await untilReady(server, port, output);
  const urlOf = (database: string) => `postgresql://verustream@127.0.0.1:${port}/${database}`;
  return {
    url: urlOf('postgres'),
    urlOf,
    createDatabase: (name) => createDatabase(urlOf('postgres'), name),
    stop: () => stop(server),
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

function collectOutput(server: ChildProcess, logger: Logger): () => string {
  let last = '';
  if (server.stderr instanceof Socket) server.stderr.unref();
  server.stderr?.setEncoding('utf8').on('data', (text: string) => {
    last = (last + text).slice(-2000);
    logger.debug({ postgres: text.trim() }, 'postgres');
  });
  return () => last.trim();
}

async function untilReady(server: ChildProcess, port: number, output: () => string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'verustream', database: 'postgres' });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (cause) {
      if (server.exitCode !== null || Date.now() > deadline) {
        server.kill('SIGQUIT');
        throw new PermanentError('postgres_start_failed', `The embedded Postgres does not start: ${output()}`, {
          cause,
        });
      }
      await sleep(50);
    }
  }
}

async function createDatabase(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  server.ref(); // nothing else may be left that keeps the program alive until it has ended
  const exited = once(server, 'exit');
  server.kill('SIGINT'); // fast shutdown: ends sessions, keeps every commit
  await exited;
}

async function freePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return address.port;
}
