/** Space on the disk of the data folder, for metrics and for the command `check`. */
import { existsSync, type StatsFs, statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Logger } from '../logger.ts';
import { metrics } from '../metrics.ts';

export interface DiskSpace {
  /** Bytes available to an unprivileged user. */
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

/** A disk fills within minutes at worst; a measurement costs one system call. */
const EVERY_MS = 10_000;
/** A fixed label, because only the operator may see paths. */
const FOLDER = { folder: 'data' };

/** For a folder that does not exist yet, measures the nearest existing parent folder. @throws errors of the file system */
export function diskSpaceOf(folder: string): DiskSpace {
  return spaceOf(statfsSync(existingAbove(resolve(folder))));
}

export interface WatchOptions {
  readonly everyMs?: number;
  /** For tests. */
  readonly ask?: (path: string) => Promise<Blocks>;
}

type Blocks = Pick<StatsFs, 'bavail' | 'blocks' | 'bsize'>;

/** Updates the disk metrics until stopped. Removes them while the disk cannot be read, and logs the reason. */
export function watchDiskSpace(folder: string, logger: Logger, options: WatchOptions = {}): { stop(): Promise<void> } {
  const { everyMs = EVERY_MS, ask = statfs } = options;
  let isAnswering = true;
  let looking = look();

  async function look(): Promise<void> {
    try {
      const { freeBytes, sizeBytes } = spaceOf(await ask(existingAbove(resolve(folder))));
      metrics.diskFree.set(FOLDER, freeBytes);
      metrics.diskSize.set(FOLDER, sizeBytes);
      isAnswering = true;
    } catch (err) {
      if (isAnswering) logger.warn({ err, folder }, 'the free space on the disk of the data folder cannot be read');
      isAnswering = false;
      forget();
    }
  }

  function forget(): void {
    metrics.diskFree.remove(FOLDER);
    metrics.diskSize.remove(FOLDER);
  }

  const timer = setInterval(() => {
    looking = look();
  }, everyMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      await looking;
      forget();
    },
  };
}

function spaceOf({ bavail, blocks, bsize }: Blocks): DiskSpace {
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
}

/** Returns the path itself if it exists, else its nearest existing parent. */
export function existingAbove(path: string): string {
  return existsSync(path) ? path : existingAbove(dirname(path));
}
