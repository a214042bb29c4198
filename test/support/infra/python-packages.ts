/** Python packages that tests run, fetched by pip once and kept with what npm has installed. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/python/', import.meta.url));
/** Python compiles what it imports, which is a small part. */
const PIP = [
  ...['-m', 'pip', 'install', '--quiet', '--no-compile'],
  ...['--disable-pip-version-check', '--root-user-action=ignore'],
];

/** The official library of receivers of webhooks. */
export const STANDARD_WEBHOOKS = 'standardwebhooks==1.1.0';
export const PANDAS = 'pandas[parquet]==2.3.3';
/** The version of the extension that reads over HTTP. */
export const DUCKDB = 'duckdb==1.4.4';

type Requirement = `${string}==${string}`;
interface PackageOptions {
  /** Without what it depends on. */
  readonly alone?: boolean;
  /** In the same folder. */
  readonly beside?: readonly Requirement[];
}

/** Where programs keep what Python compiles for them, so that nothing is written beside the examples. */
export const COMPILED = join(CACHE, 'compiled');

/**
 * The folder for PYTHONPATH that has exactly this version.
 * @throws Error when pip cannot fetch it
 */
export function pythonPackage(requirement: Requirement, { alone = false, beside = [] }: PackageOptions = {}): string {
  const folder = join(CACHE, [requirement, ...beside].join(' '));
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  // Into a folder of its own first, so that a run that is cut leaves nothing half.
  const fetched = join(CACHE, `fetching-${process.pid}`);
  rmSync(fetched, { recursive: true, force: true });
  const options = [...(alone ? ['--no-deps'] : []), '--target', fetched];
  execFileSync('python3', [...PIP, ...options, requirement, ...beside], { stdio: 'inherit' });
  if (existsSync(folder)) rmSync(fetched, { recursive: true });
  else renameSync(fetched, folder);
  return folder;
}
