/** After kill -9 of the program its Postgres server lives on; the next start ends it before it starts its own. */
import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PermanentError } from '../../../schemas/errors.ts';
import type { Logger } from '../../logger.ts';

const WAIT_MS = 30_000;

/** The caller holds the data folder's lock, so a server on it can only be a leftover. */
export async function endLeftover(data: string, logger: Logger): Promise<void> {
  const file = join(data, 'postmaster.pid');
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : Number.NaN;
  if (!Number.isInteger(pid) || pid <= 0) return;
  if (isServer(pid)) {
    logger.info({ pid }, 'ending the Postgres server that an earlier run left behind');
    process.kill(pid, 'SIGINT');
    const deadline = Date.now() + WAIT_MS;
    while (isServer(pid)) {
      if (Date.now() > deadline) {
        throw new PermanentError(
          'postgres_leftover',
          `Postgres server ${pid} on ${data} does not end. Stop it and start again.`,
        );
      }
      await sleep(50);
    }
  }
  await rm(file, { force: true });
}

/** A process id may have been taken over by another program since. */
function isServer(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('postgres');
  } catch {
    return process.platform !== 'linux';
  }
}
