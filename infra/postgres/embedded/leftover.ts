/** Cleans up after an earlier server: the server itself after kill -9 of the program, its backends after kill -9 of the server, and files. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PermanentError } from '../../../schemas/errors.ts';
import type { Logger } from '../../logger.ts';
import { errorCode } from '../../system-errors.ts';
import { removeLeftSocketFolder } from './address.ts';
import { removeLeftCopy } from './binaries.ts';

const WAIT_MS = 30_000;
const POLL_MS = 50;

/** The caller holds the lock of the data folder, so any server on it is a leftover. @throws PermanentError postgres_leftover */
export async function endLeftover(data: string, logger: Logger): Promise<void> {
  const file = join(data, 'postmaster.pid');
  const [pid, , , , socketFolder = ''] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const server = Number(pid);
  const late: number[] = [];
  if (Number.isInteger(server) && server > 0 && worksOn(server, data)) {
    logger.info({ pid: server }, 'ending the Postgres server that an earlier run left behind');
    // Its last checkpoint may take long after many writes; if it does not finish in time, the next start recovers from the WAL.
    if ((await end([server], 'SIGINT', data)) !== null) late.push(server);
  }
  // Backends notice only at the end of their statement that their server has ended. Until then no other server may start.
  const left = await end([...late, ...processesOn(data)], 'SIGQUIT', data);
  if (left !== null) {
    throw new PermanentError(
      'postgres_leftover',
      `The Postgres process ${left} on ${data} does not end. Stop it, then start again.`,
    );
  }
  removeLeftSocketFolder(socketFolder);
  const [, program = ''] = /^"?([^" ]+)/.exec(existing(join(data, 'postmaster.opts'))) ?? [];
  removeLeftCopy(program);
  // No server runs here now, but a process id in these files may belong to another program or a zombie.
  for (const name of ['postmaster.pid', ...socketFilesIn(data)]) await rm(join(data, name), { force: true });
}

const socketFilesIn = (data: string) =>
  existsSync(data) ? readdirSync(data).filter((name) => name.startsWith('.s.PGSQL.')) : [];

const existing = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** Returns the id of a process that has not ended in time, or null when all have ended. */
async function end(pids: readonly number[], signal: NodeJS.Signals, data: string): Promise<number | null> {
  for (const pid of pids) kill(pid, signal);
  const deadline = performance.now() + WAIT_MS;
  for (const pid of pids) {
    while (worksOn(pid, data)) {
      if (performance.now() > deadline) return pid;
      await sleep(POLL_MS);
    }
  }
  return null;
}

/** Finds processes on Linux only; returns none elsewhere. */
function processesOn(data: string): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => worksOn(pid, data));
}

/** Checks name and folder (elsewhere than on Linux only the name): another program may have reused the process id, or another server. */
function worksOn(pid: number, data: string): boolean {
  if (process.platform !== 'linux') return kill(pid, 0) && /\bpostgres\b/.test(programOf(pid));
  try {
    return (
      readFileSync(`/proc/${pid}/comm`, 'utf8') === 'postgres\n' &&
      readlinkSync(`/proc/${pid}/cwd`) === realpathSync(data)
    );
  } catch {
    return false; // the process has ended or is not ours
  }
}

function programOf(pid: number): string {
  const [file, args] =
    process.platform === 'win32'
      ? ['tasklist', ['/fi', `pid eq ${pid}`, '/fo', 'csv', '/nh']]
      : ['ps', ['-p', String(pid), '-o', 'comm=']];
  return spawnSync(file, args, { encoding: 'utf8' }).stdout ?? '';
}

/** Returns false when there is no such process, or it is another user's, which the server never is. */
function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (['ESRCH', 'EPERM'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
}
