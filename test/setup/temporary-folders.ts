/**
 * Deletes at the end of the run whatever tests left in the system's temporary folder, including files of killed processes. If the
 * machine has enough memory, the folder is in memory: docs/decisions/0046-a-faster-run-of-the-tests.md.
 */
import { chmodSync, existsSync, lstatSync, mkdtempSync, readdirSync, statfsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';
const TMPFS = 0x01021994;
/** Unit of `blocks` in a file's status. */
const BLOCK_BYTES = 512;
/** Room for about 300 databases; each takes 20 MB with its write-ahead log until the run ends. */
const ROOM_BYTES = 6 * 2 ** 30;
/** Short, because paths of Unix sockets have at most 107 bytes. */
const PREFIX = 'vst-';

export async function setup(): Promise<() => Promise<void>> {
  const folder = (await claimMemory()) ?? makeFolder(tmpdir());
  chmodSync(folder, 0o711); // the embedded Postgres may run as another user
  process.env.TMPDIR = folder;
  // Retries, because the runner is still ending workers that write into the folder.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 20 });
}

const makeFolder = (parent: string): string => mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));

/** Returns null when there is not enough memory, or no memory file system. */
async function claimMemory(): Promise<string | null> {
  if (process.env.TMPDIR !== undefined || !existsSync(IN_MEMORY) || statfsSync(IN_MEMORY).type !== TMPFS) return null;
  await removeLeft();
  // Made before the check: of two runs that start at the same time, each counts the other.
  const folder = makeFolder(IN_MEMORY);
  if (roomInMemory() >= ROOM_BYTES) return folder;
  await rm(folder, { recursive: true });
  return null;
}

/** Bytes, minus what other runs may still take. */
function roomInMemory(): number {
  const { bavail, bsize } = statfsSync(IN_MEMORY);
  const promised = runsInMemory()
    .filter(({ pid }) => pid !== process.pid && existsSync(`/proc/${pid}`))
    .map(({ folder }) => Math.max(0, ROOM_BYTES - bytesIn(folder)));
  return Math.min(bavail * bsize, freemem()) - promised.reduce((sum, bytes) => sum + bytes, 0);
}

function runsInMemory(): { readonly pid: number; readonly folder: string }[] {
  return readdirSync(IN_MEMORY).flatMap((name) => {
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? [];
    return pid ? [{ pid: Number(pid), folder: join(IN_MEMORY, name) }] : [];
  });
}

/** An estimate: files appear and disappear while it counts. */
function bytesIn(folder: string): number {
  const entries = unlessGone(() => readdirSync(folder, { withFileTypes: true }), []);
  return entries.reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sum + bytesIn(path);
    return sum + unlessGone(() => lstatSync(path).blocks * BLOCK_BYTES, 0);
  }, 0);
}

function unlessGone<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** Removes the folders of killed runners, which would occupy memory until the machine restarts. A folder with a mount in it stays. */
async function removeLeft(): Promise<void> {
  for (const { pid, folder } of runsInMemory()) {
    if (existsSync(`/proc/${pid}`)) continue;
    await rm(folder, { recursive: true, force: true }).catch((error: unknown) => {
      console.warn(`a run that was killed left ${folder}, which cannot be removed: ${String(error)}`);
    });
  }
}
