/** Python packages that tests use; pip fetches each once, and they are kept next to the npm packages. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/python/', import.meta.url));
/** Nothing is compiled in advance: Python compiles the modules that it imports, which are few. */
const PIP = [
  ...['-m', 'pip', 'install', '--quiet', '--no-compile'],
  ...['--disable-pip-version-check', '--root-user-action=ignore'],
];

/** The official library for webhook receivers. */
export const STANDARD_WEBHOOKS = 'standardwebhooks==1.1.0';
export const PANDAS = 'pandas[parquet]==2.3.3';
/** The version that matches the httpfs extension. */
export const DUCKDB = 'duckdb==1.4.4';

type Requirement = `${string}==${string}`;
interface PackageOptions {
  /** Installs the package without its dependencies. */
  readonly alone?: boolean;
  /** Further packages in the same folder. */
  readonly beside?: readonly Requirement[];
}

/** Where Python programs store compiled modules, so that nothing is written next to the examples. */
export const COMPILED = join(CACHE, 'compiled');

/**
 * Returns the folder for PYTHONPATH with exactly this version.
 * @throws Error when pip cannot fetch it
 */
export function pythonPackage(requirement: Requirement, { alone = false, beside = [] }: PackageOptions = {}): string {
  const folder = join(CACHE, [requirement, ...beside].join(' '));
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  // Fetched into a separate folder first, so that an interrupted run leaves no incomplete package.
  const fetched = join(CACHE, `fetching-${process.pid}`);
  rmSync(fetched, { recursive: true, force: true });
  const options = [...(alone ? ['--no-deps'] : []), '--target', fetched];
  execFileSync('python3', [...PIP, ...options, requirement, ...beside], { stdio: 'inherit' });
  if (existsSync(folder)) rmSync(fetched, { recursive: true });
  else renameSync(fetched, folder);
  return folder;
}
