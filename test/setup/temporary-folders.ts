/**
 * What tests leave in the system's temporary folder goes with the run, also what a killed process could not remove. Where the
 * machine has memory to spare, the folder is in memory: docs/decisions/0046-a-faster-run-of-the-tests.md.
 */
import { chmodSync, existsSync, mkdtempSync, readdirSync, statfsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';
const TMPFS = 0x01021994;
/** For some 300 databases, of which each takes 20 MB with its write-ahead log until the run ends. */
const ROOM_BYTES = 6 * 2 ** 30;
/** Short: paths of sockets end at 107 bytes. */
const PREFIX = 'vst-';

export async function setup(): Promise<() => Promise<void>> {
  const parent = process.env.TMPDIR === undefined && hasRoomInMemory() ? IN_MEMORY : tmpdir();
  if (parent === IN_MEMORY) await removeLeft();
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  chmodSync(folder, 0o711); // the embedded Postgres may run as another user
  process.env.TMPDIR = folder;
  // Not in one go: meanwhile the runner ends the workers, which still write there.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 20 });
}

function hasRoomInMemory(): boolean {
  if (!existsSync(IN_MEMORY)) return false;
  const { type, bavail, bsize } = statfsSync(IN_MEMORY);
  return type === TMPFS && Math.min(bavail * bsize, freemem()) >= ROOM_BYTES;
}

/** A runner that was killed leaves its folder, which would hold the memory until the machine restarts; one with a mount in it stays. */
async function removeLeft(): Promise<void> {
  for (const name of readdirSync(IN_MEMORY)) {
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? [];
    if (!pid || existsSync(`/proc/${pid}`)) continue;
    const folder = join(IN_MEMORY, name);
    await rm(folder, { recursive: true, force: true }).catch((error: unknown) => {
      console.warn(`a run that was killed left ${folder}, which cannot be removed: ${String(error)}`);
    });
  }
}
