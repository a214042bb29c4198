/**
 * Runs schemathesis against the service on the recording: checks the promises of the OpenAPI document, for valid and for invalid inputs; once
 * without credentials, and once with a session and a key of the highest tier, which may use every path.
 * Usage: npm run fuzz [-- examples per operation (20) [seed (1)]], or `npm run fuzz -- install`, which only installs its dependencies
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openSession } from '../../api/access/sessions.ts';
import { CHAIN, type RunningService, startService } from '../api/running-service.ts';
import { tip } from '../api/truth.ts';

const VERSION = '4.32.5';
/** schemathesis also leaves its findings here. */
const CACHE = fileURLToPath(new URL('../../.cache', import.meta.url));
const VENV = `${CACHE}/schemathesis-${VERSION}`;
const CONFIG = fileURLToPath(new URL('schemathesis.toml', import.meta.url));
const BLOCKS = 120;
const BLOCK_MS = 30_000;
const [examples = '20', seed = '1'] = process.argv.slice(2);

/** Asynchronous, because the service runs in this process. */
function statusOf(command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', cwd: CACHE });
    child.on('error', reject).on('close', (status) => resolve(status ?? 1));
  });
}

async function installed(): Promise<void> {
  if (existsSync(`${VENV}/bin/st`)) return;
  mkdirSync(CACHE, { recursive: true });
  const pip = ['install', '--quiet', '--no-compile', '--disable-pip-version-check', `schemathesis==${VERSION}`];
  const failed = (await statusOf('python3', ['-m', 'venv', VENV])) || (await statusOf(`${VENV}/bin/pip`, pip));
  if (failed) throw new Error('schemathesis could not be installed: Python 3 with venv and pip is needed');
}

/**
 * A session of bob@, who has no key, and a key of alice@, so that no path that the session opens can revoke the key. Logging out would end the
 * session for good, so that path is excluded.
 */
async function everythingOpen({ url, stores, issueKey }: RunningService): Promise<readonly string[]> {
  const bob = (await (await fetch(`${url}/api/identity/bob@`)).json()) as { identityaddress: string };
  const { token } = await openSession(stores.postgres, { chain: CHAIN, identityAddress: bob.identityaddress });
  return [
    ...['--header', `Authorization: Bearer ${token}`],
    ...['--header', `X-API-Key: ${await issueKey('pro')}`],
    ...['--exclude-path', '/api/auth/logout'],
  ];
}

/** A chain without blocks for twenty minutes counts as not ready, so this adds a block now and then, for an hour. */
function keepMoving({ node }: RunningService): NodeJS.Timeout {
  return setInterval(() => {
    if (node.height < tip) node.advanceTo(node.height + 1);
  }, BLOCK_MS);
}

await installed();
if (examples === 'install') process.exit();
const service = await startService({ startHeight: tip - BLOCKS });
const moving = keepMoving(service);
try {
  await service.settled(true);
  const bounds = `--max-examples ${examples} --seed ${seed} --request-timeout 30 --generation-database none`.split(' ');
  const run = ['--config-file', CONFIG, 'run', `${service.url}/api/openapi.json`, ...bounds];
  const asAnybody = await statusOf(`${VENV}/bin/st`, run);
  const withAccess = await statusOf(`${VENV}/bin/st`, [...run, ...(await everythingOpen(service))]);
  process.exitCode = asAnybody || withAccess;
} finally {
  clearInterval(moving);
  await service.stop();
}
