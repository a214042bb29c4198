/**
 * schemathesis against the service on the recording: all that the OpenAPI document promises, for inputs that fit it and for
 * inputs that do not. Usage: npm run fuzz [-- examples an operation (20) [seed (1)]]
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startService } from '../api/running-service.ts';

const VERSION = '4.32.5';
/** Also where schemathesis leaves what it found. */
const CACHE = fileURLToPath(new URL('../../.cache', import.meta.url));
const VENV = `${CACHE}/schemathesis-${VERSION}`;
const CONFIG = fileURLToPath(new URL('schemathesis.toml', import.meta.url));
const [examples = '20', seed = '1'] = process.argv.slice(2);

/** Not synchronously: the service lives in this process. */
function statusOf(command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', cwd: CACHE });
    child.on('error', reject).on('close', (status) => resolve(status ?? 1));
  });
}

async function installed(): Promise<void> {
  if (existsSync(`${VENV}/bin/st`)) return;
  mkdirSync(CACHE, { recursive: true });
  const pip = ['install', '--quiet', '--disable-pip-version-check', `schemathesis==${VERSION}`];
  const failed = (await statusOf('python3', ['-m', 'venv', VENV])) || (await statusOf(`${VENV}/bin/pip`, pip));
  if (failed) throw new Error('schemathesis could not be installed: Python 3 with venv and pip is needed');
}

await installed();
const service = await startService();
try {
  await service.settled(true);
  const bounds = [
    '--max-examples',
    examples,
    '--seed',
    seed,
    '--request-timeout',
    '30',
    '--generation-database',
    'none',
  ];
  const run = ['--config-file', CONFIG, 'run', `${service.url}/api/openapi.json`, ...bounds];
  process.exitCode = await statusOf(`${VENV}/bin/st`, run);
} finally {
  await service.stop();
}
