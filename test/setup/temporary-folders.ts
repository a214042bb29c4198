/**
 * What tests leave in the system's temporary folder goes with the run, also what a killed process could not remove. Where the
 * machine has memory to spare, the folder is in memory: docs/decisions/0046-a-faster-run-of-the-tests.md.
 */
import { chmodSync, existsSync, lstatSync, mkdtempSync, readdirSync, statfsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';
const TMPFS = 0x01021994;
/** Unit of `blocks` in the status of a file. */
const BLOCK_BYTES = 512;
/** For some 300 databases, of which each takes 20 MB with its write-ahead log until the run ends. */
const ROOM_BYTES = 6 * 2 ** 30;
/** Short: paths of sockets end at 107 bytes. */
const PREFIX = 'vst-';

export async function setup(): Promise<() => Promise<void>> {
  const folder = (await claimMemory()) ?? makeFolder(tmpdir());
  chmodSync(folder, 0o711); // the embedded Postgres may run as another user
  process.env.TMPDIR = folder;
  // Not in one go: meanwhile the runner ends the workers, which still write there.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 20 });
}

const makeFolder = (parent: string): string => mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));

/** Null: there is no room in memory, or no memory to put files in. */
async function claimMemory(): Promise<string | null> {
  if (process.env.TMPDIR !== undefined || !existsSync(IN_MEMORY) || statfsSync(IN_MEMORY).type !== TMPFS) return null;
  await removeLeft();
  // Before it looks: of two runs that start at once, each counts the other.
  const folder = makeFolder(IN_MEMORY);
  if (roomInMemory() >= ROOM_BYTES) return folder;
  await rm(folder, { recursive: true });
  return null;
}

/** Bytes, without those that other runs may still take. */
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

/** An estimate: files come and go while it counts. */
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

/** A runner that was killed leaves its folder, which would hold the memory until the machine restarts; one with a mount in it stays. */
async function removeLeft(): Promise<void> {
  for (const { pid, folder } of runsInMemory()) {
    if (existsSync(`/proc/${pid}`)) continue;
    await rm(folder, { recursive: true, force: true }).catch((error: unknown) => {
      console.warn(`a run that was killed left ${folder}, which cannot be removed: ${String(error)}`);
    });
  }
}
