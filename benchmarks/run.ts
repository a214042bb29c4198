/**
 * Runs benchmarks, each in a process of its own: `npm run bench [-- name [arguments]]`. Every benchmark measures itself against a
 * baseline in the same run and prints the ratio; absolute figures say little on a shared machine.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const SUFFIX = '.bench.ts';
const folder = fileURLToPath(new URL('.', import.meta.url));
const [wanted, ...args] = process.argv.slice(2);
const names = readdirSync(folder)
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length));
const chosen = wanted === undefined ? names : names.filter((name) => name === wanted);

if (chosen.length === 0) {
  console.error(`no benchmark ${wanted}; there are ${names.join(', ')}`);
  process.exit(2);
}
for (const name of chosen) {
  console.log(`\n${name}`);
  const { status } = spawnSync(process.execPath, [...process.execArgv, `${folder}${name}${SUFFIX}`, ...args], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exitCode = 1;
}
