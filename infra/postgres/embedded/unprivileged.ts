/** How Postgres' programs are started: never as root (it refuses), and never outliving the process that started them. */
import { execFileSync } from 'node:child_process';
import { chownSync } from 'node:fs';
import { PermanentError } from '../../../schemas/errors.ts';

const NOBODY = 65534;

/**
 * As root they run as `nobody`, with just what is needed to reach files below folders that belong to root alone.
 * Without no_setuid_fixup the kernel leaves that capability out of access(), by which initdb looks for its programs.
 */
const AS_NOBODY = [
  '--securebits=+no_setuid_fixup',
  `--reuid=${NOBODY}`,
  `--regid=${NOBODY}`,
  '--clear-groups',
  '--inh-caps=-all,+dac_override',
  '--ambient-caps=-all,+dac_override',
];

/** SIGQUIT is Postgres' immediate shutdown: every commit is kept. */
const ENDS_WITH_PARENT = ['--pdeathsig=QUIT'];

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

/** The command as this user must start it. */
export function unprivileged(file: string, args: readonly string[]): Command {
  const root = process.getuid?.() === 0;
  if (hasSetpriv()) {
    return { file: 'setpriv', args: [...ENDS_WITH_PARENT, ...(root ? AS_NOBODY : []), file, ...args] };
  }
  if (!root) return { file, args }; // what a killed process leaves behind is ended by the next start
  throw new PermanentError(
    'postgres_needs_user',
    'Postgres refuses to run as root and `setpriv` (util-linux) is not installed. Run verustream as another user, install util-linux, or set DATABASE_URL.',
  );
}

/** Gives a folder to the user that Postgres runs as. */
export function giveToPostgres(folder: string): void {
  if (process.getuid?.() === 0) chownSync(folder, NOBODY, NOBODY);
}

function hasSetpriv(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    execFileSync('setpriv', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
