/** What tests leave in the system's temporary folder goes with the run, also what a killed process could not remove. */
import { chmodSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function setup(): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'vst-')); // short: paths of sockets end at 107 bytes
  chmodSync(folder, 0o711); // the embedded Postgres may run as another user
  process.env.TMPDIR = folder;
  // Not in one go: meanwhile the runner ends the workers, which still write there.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 20 });
}
