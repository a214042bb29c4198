/** Python packages that tests run, fetched by pip once and kept with what npm has installed. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/python/', import.meta.url));
const PIP = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--root-user-action=ignore'];

/** The official library of receivers of webhooks. */
export const STANDARD_WEBHOOKS = 'standardwebhooks==1.1.0';
export const PANDAS = 'pandas[parquet]==2.3.3';
/** The version of the extension that reads over HTTP. */
export const DUCKDB = 'duckdb==1.4.4';

/**
 * The folder for PYTHONPATH that has exactly this version. `alone`: without what it depends on.
 * @throws Error when pip cannot fetch it
 */
export function pythonPackage(requirement: `${string}==${string}`, { alone = false } = {}): string {
  const folder = join(CACHE, requirement);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  // Into a folder of its own first, so that a run that is cut leaves nothing half.
  const fetched = join(CACHE, `fetching-${process.pid}`);
  rmSync(fetched, { recursive: true, force: true });
  execFileSync('python3', [...PIP, ...(alone ? ['--no-deps'] : []), '--target', fetched, requirement], {
    stdio: 'inherit',
  });
  if (existsSync(folder)) rmSync(fetched, { recursive: true });
  else renameSync(fetched, folder);
  return folder;
}
