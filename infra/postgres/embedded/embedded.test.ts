import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres, type Postgres } from '../postgres.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.ts';
import { runServer } from './server-process.ts';

const said: Record<string, unknown>[] = [];
const logger = pino({ level: 'warn' }, { write: (line) => void said.push(JSON.parse(line)) });
const isRoot = process.getuid?.() === 0;
const isLinux = process.platform === 'linux';
const folders: string[] = [];

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'verustream-postgres-'));
  folders.push(folder);
  return folder;
}

const folder = join(temporaryFolder(), 'data');
let server: EmbeddedPostgres;
let postgres: Postgres;

beforeAll(async () => {
  server = await startEmbeddedPostgres(folder, logger);
  await server.createDatabase('test');
  postgres = await connectPostgres({ url: server.urlOf('test'), logger });
});
afterAll(async () => {
  await postgres.close();
  await server.stop();
  for (const path of folders) rmSync(path, { recursive: true, force: true });
});

const processId = (data = folder) => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
const processStatus = (pid: number) =>
  new Map(
    readFileSync(`/proc/${pid}/status`, 'utf8')
      .split('\n')
      .map((line) => line.split(/:\s*/) as [string, string]),
  );
const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

/** Autovacuum workers and sessions may end at any moment, even while their file is read. */
function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}

const lastingProcesses = () =>
  [processId(), ...childrenOf(processId())].filter((pid) => {
    const command = commandLine(pid);
    return /bin\/postgres|checkpointer|background writer|walwriter|launcher|io worker/.test(command);
  });

/** Returns the server's error for a connection with `options`, or null if it accepts the connection. */
async function refusal(options: pg.ClientConfig): Promise<string | null> {
  const client = new pg.Client(options);
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.end();
    return null;
  } catch (error) {
    return String(error);
  }
}

describe('the rules for connections', () => {
  const socket = () => ({ host: folder, port: 5432, database: 'test' });
  const password = () => new URL(server.url).password;

  it('admit the service with its password only', async () => {
    expect(await refusal({ ...socket(), user: 'verustream', password: password() })).toBeNull();
    const guesses = fc.stringMatching(/^[ -~]{1,64}$/).filter((guess) => guess !== password());
    await fc.assert(
      fc.asyncProperty(guesses, async (guess) => {
        expect(await refusal({ ...socket(), user: 'verustream', password: guess })).toMatch(/authentication failed/);
      }),
      { numRuns: 10 },
    );
  });

  it('admit no other role, whatever its password', async () => {
    for (const user of ['postgres', 'root', 'nobody', 'pg_read_server_files', 'replication']) {
      expect(await refusal({ ...socket(), user, password: password() }), user).toMatch(/no pg_hba.conf entry/);
    }
  });

  it('admit no connection over TCP: nothing listens', async () => {
    const { rows } = await postgres.pool.query('SHOW listen_addresses');
    expect(rows).toEqual([{ listen_addresses: '' }]);
    if (!isLinux) return;
    const sockets = new Set(
      lastingProcesses().flatMap((pid) =>
        readdirSync(`/proc/${pid}/fd`).map((fd) =>
          spawnSync('readlink', [`/proc/${pid}/fd/${fd}`])
            .stdout.toString()
            .trim(),
        ),
      ),
    );
    const listening = ['tcp', 'tcp6']
      .flatMap((file) => readFileSync(`/proc/net/${file}`, 'utf8').trim().split('\n').slice(1))
      .filter((line) => line.trim().split(/\s+/)[3] === '0A')
      .map((line) => `socket:[${line.trim().split(/\s+/)[9]}]`);
    expect(listening.filter((socketName) => sockets.has(socketName))).toEqual([]);
  });

  it.skipIf(!isRoot || !isLinux)('admit no other user of the machine, even with the password (needs root)', () => {
    chmodSync(join(folder, '..'), 0o711); // other users may enter all folders above the cluster
    const connect = `new (require('node:net').Socket)().on('error', (e) => { console.log(e.code); }).on('connect', () => { console.log('connected'); process.exit(); }).connect(process.argv[1])`;
    for (const uid of [12_345, 65_534, 1]) {
      for (const path of [join(folder, '.s.PGSQL.5432'), `/proc/${processId()}/cwd/.s.PGSQL.5432`]) {
        const args = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', process.execPath, '-e', connect, path];
        expect(spawnSync('setpriv', args, { encoding: 'utf8' }).stdout.trim(), `${uid} ${path}`).toBe('EACCES');
      }
    }
  });
});

describe('the role of the service', () => {
  it('is not a superuser, and cannot become one', async () => {
    const { rows } = await postgres.pool.query(
      `SELECT current_user AS name, rolsuper, rolcreaterole, rolreplication, rolbypassrls,
         ARRAY(SELECT rolname::text FROM pg_roles r WHERE pg_has_role(current_user, r.oid, 'MEMBER')) AS member
       FROM pg_roles WHERE rolname = current_user`,
    );
    const no = { rolsuper: false, rolcreaterole: false, rolreplication: false, rolbypassrls: false };
    expect(rows).toEqual([{ name: 'verustream', ...no, member: ['pg_database_owner', 'verustream'] }]);
  });

  it.each([
    "COPY (SELECT 1) TO PROGRAM 'cat'",
    "COPY pg_temp.t FROM PROGRAM 'id'",
    "COPY (SELECT 1) TO '/tmp/x'",
    "COPY pg_temp.t FROM '/etc/passwd'",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_read_binary_file('pg_hba.conf')",
    "SELECT pg_ls_dir('/')",
    "SELECT pg_stat_file('/etc/passwd')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_export(1, '/tmp/x')",
    'SELECT * FROM pg_hba_file_rules',
    'SELECT rolpassword FROM pg_authid',
    "ALTER SYSTEM SET listen_addresses = '*'",
    'ALTER ROLE verustream SUPERUSER',
    'CREATE ROLE other SUPERUSER',
    'SET ROLE postgres',
    'SET SESSION AUTHORIZATION postgres',
    'GRANT pg_execute_server_program TO verustream',
    "CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE c AS '/lib/x86_64-linux-gnu/libc.so.6', 'system'",
    'CREATE EXTENSION file_fdw',
    "LOAD '/tmp/x.so'",
    "SET session_preload_libraries = 'x'",
    'UPDATE pg_authid SET rolsuper = true',
    'CREATE PUBLICATION p FOR ALL TABLES',
  ])('may not run %s', async (statement) => {
    const client = await postgres.pool.connect();
    try {
      await client.query('CREATE TEMP TABLE IF NOT EXISTS t (line text)');
      await expect(client.query(statement)).rejects.toThrow(/permission denied|must be superuser|access to library/i);
    } finally {
      client.release(true);
    }
  });
});

describe('the processes of the server', () => {
  it.skipIf(!isLinux)('have no capability, cannot gain one, and do not see our secrets', () => {
    const pids = lastingProcesses();
    expect(pids.length).toBeGreaterThan(3);
    for (const pid of pids) {
      const status = processStatus(pid);
      const sets = isRoot
        ? ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']
        : ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'];
      for (const set of sets) expect(status.get(set), `${set} of ${pid}`).toBe('0000000000000000');
      expect(status.get('NoNewPrivs')).toBe('1');
      expect(status.get('Uid')?.split('\t')).not.toContain('0');
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toMatch(/TMPDIR|HOME/);
    }
  });

  it.skipIf(!isRoot)('run under root as a user that no account has and that owns all files (needs root)', () => {
    const { uid } = statSync(folder);
    expect(uid).toBeGreaterThanOrEqual(61_184);
    expect(readFileSync('/etc/passwd', 'utf8')).not.toMatch(new RegExp(`^[^:]*:[^:]*:${uid}:`, 'm'));
    expect(processStatus(processId()).get('Uid')).toBe([uid, uid, uid, uid].join('\t'));
  });

  it('have files that no other user may access', () => {
    for (const name of readdirSync(folder, { recursive: true }) as string[]) {
      const { mode } = statSync(join(folder, name));
      if (!name.includes('.s.PGSQL')) expect(mode & 0o077, name).toBe(0);
    }
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });
});

it('when the path is too long for a socket, the socket is elsewhere and is removed when the server stops', async () => {
  const data = join(temporaryFolder(), 'x'.repeat(100));
  mkdirSync(data);
  const long = await startEmbeddedPostgres(join(data, 'postgres'), logger);
  const host = decodeURIComponent(new URL(long.url).hostname);
  expect(statSync(host).mode & 0o777).toBe(0o700);
  expect(await refusal({ connectionString: long.url })).toBeNull();
  await long.stop();
  expect(() => statSync(host)).toThrow(/ENOENT/);
});

describe('when the server dies', () => {
  const kept = () => postgres.pool.query('SELECT n FROM kept').then(({ rows }) => rows);

  it('it is restarted at the same address with every commit, after a longer wait each time, and logs it', async () => {
    said.length = 0;
    await postgres.pool.query('CREATE TABLE kept AS SELECT 7 AS n');
    for (let death = 0; death < 4; death++) {
      const killed = processId();
      process.kill(killed, 'SIGKILL');
      await expect.poll(() => existingProcessId()).not.toBe(killed);
      await expect.poll(() => kept().catch(String)).toEqual([{ n: 7 }]);
    }
    const deaths = said.filter(({ code }) => code === 'postgres_unreachable');
    expect(deaths.length).toBeGreaterThanOrEqual(4);
    for (const [index, { ends, waitMs }] of deaths.entries()) {
      expect({ ends, waitMs }).toEqual({ ends: index + 1, waitMs: [0, 250, 500, 1000][index] ?? waitMs });
    }
    expect(deaths[0]?.msg).toMatch(/does not run: it ended unexpectedly \(SIGKILL\); starting it again now$/);
    expect(deaths[3]?.msg).toMatch(/; starting it again in 1 s$/);
  });

  it.skipIf(!isLinux)('backends that outlive it are ended, even busy ones', async () => {
    const busy = postgres.pool.query('SELECT count(*) FROM generate_series(1, 1e12::bigint)').catch(() => 'lost');
    await expect
      .poll(async () => (await postgres.pool.query("SELECT FROM pg_stat_activity WHERE state = 'active'")).rowCount)
      .toBe(2);
    process.kill(processId(), 'SIGKILL');
    expect(await busy).toBe('lost');
    await expect.poll(() => kept().catch(String)).toEqual([{ n: 7 }]);
  });

  const existingProcessId = () => {
    try {
      return processId();
    } catch {
      return null;
    }
  };
});

it('stays stopped after stop()', async () => {
  await server.stop();
  await expect(connectPostgres({ url: server.url, logger })).rejects.toMatchObject({ code: 'postgres_unreachable' });
});

it.each([
  ['does not exist', '/nowhere/postgres', '/'],
  ['has no folder to run in', process.execPath, '/nowhere'],
])('fails with postgres_start_failed when its program %s', async (_, file, cwd) => {
  const command = { file, args: [], options: { cwd, env: {} } };
  const url = 'postgres://postgres@127.0.0.1:1/postgres';
  const started = runServer({ command, url, socket: null, data: temporaryFolder(), logger });
  await expect(started).rejects.toMatchObject({ code: 'postgres_start_failed' });
});
