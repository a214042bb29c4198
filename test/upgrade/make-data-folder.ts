/**
 * Writes the data folder of this version for all later versions to open: run it before a store or the log changes, and commit the result.
 *
 *   node infra/launch/run.mjs test/upgrade/make-data-folder.ts
 *
 * The program of this checkout tails the recorded node over two reorganisations and stops on the branch that will lose. On the way the
 * folder gets data of users and operators: a tier, a key, a session, a webhook with deliveries, a second generation of stamps, an accepted
 * rewind and dead letters.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { createKey, setTier } from '../../api/access/key-store.ts';
import { openSession } from '../../api/access/sessions.ts';
import { openResources } from '../../commands/open-resources.ts';
import { release } from '../../commands/release.ts';
import { loadConfig } from '../../infra/config/load-config.ts';
import { freePort } from '../../infra/free-port.ts';
import { startRecordedNode } from '../../recordings/player/recorded-node.ts';
import { ROOT } from '../house/source-files.ts';
import { NODE_FLAGS } from '../support/infra/node-flags.ts';
import { CHAIN, CHAIN_SETTINGS, type FolderContents, OWNER } from './contents.ts';
import { packFolder } from './folder-archive.ts';
import { startOtherBranch } from './other-branch.ts';

const UNTIL_MS = 120_000;
/** Low, so that the folder fits in 2 MB; the first conversions are below this height. */
const START = 264;
const FAULTY_BLOCKS = 40;

const work = mkdtempSync(join(tmpdir(), 'verustream-upgrade-'));
const dataDir = join(work, 'data');
const configFile = join(work, 'verustream.json');
const port = await freePort();
const node = await startRecordedNode({
  folder: join(ROOT, 'recordings/private-network'),
  startHeight: START,
  user: 'user',
  password: 'secret',
});
const receiver = createServer((_, response) => response.writeHead(204).end()).listen(0, '127.0.0.1');
const branch = await startOtherBranch(node.url);
writeFileSync(configFile, JSON.stringify({ chains: [{ ...CHAIN_SETTINGS, rpc: branch.url }] }));
const settings = { VERUSTREAM_CONFIG: configFile, DATA_DIR: dataDir, WEBHOOK_LOCAL_RECEIVERS: 'true' };

try {
  await serve(async () => {
    branch.fork = node.height;
    node.advanceTo(node.height + 3);
    await served();
    branch.fork = null;
    node.advanceTo(node.height + 1);
    await served();
  });
  await run('verustream.ts', 'reprocess', '--regime', 'backfill');
  await run('verustream.ts', 'accept-rewind', CHAIN, String(node.height), node.hash);
  await run('test/system/derive-with-faults.ts', String(node.height - FAULTY_BLOCKS));
  const access = await openAccess();
  const contents = await serve(async () => {
    const webhook = await register(access.key);
    branch.fork = node.height;
    node.advanceTo(node.height + 4);
    await served();
    return { ...access, webhook, fork: branch.fork, height: node.height, node: process.version };
  });
  write(contents);
} finally {
  receiver.close();
  branch.stop();
  await node.stop();
  rmSync(work, { recursive: true, force: true });
}

/** Runs the service, and calls `work` once it serves the node's tip. */
async function serve<T>(work: () => Promise<T>): Promise<T> {
  const child = start(['verustream.ts', 'start'], { ...settings, PORT: String(port) });
  try {
    await served();
    return await work();
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

async function run(...args: string[]): Promise<void> {
  const [code] = await once(start(args, settings), 'exit');
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
}

function start([script = '', ...args]: readonly string[], environment: NodeJS.ProcessEnv) {
  const { PATH } = process.env;
  return spawn(process.execPath, [...NODE_FLAGS, join(ROOT, script), ...args], {
    cwd: ROOT,
    env: { PATH, ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

async function served(): Promise<void> {
  const deadline = Date.now() + UNTIL_MS;
  const isServed = async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const priced = metrics.includes(`verustream_stage_height{chain="${CHAIN}",stage="price"} ${node.height}\n`);
    return (
      priced &&
      (await (await fetch(`http://127.0.0.1:${port}/api/blocks/?pageSize=1`)).text()).includes(branch.shown(node.hash))
    );
  };
  while (!(await isServed().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`block ${node.height} is not served`);
    await sleep(100);
  }
}

async function openAccess(): Promise<{ key: string; session: string }> {
  const resources = await openResources(loadConfig(settings), pino({ level: 'error' }));
  const { postgres } = resources.stores;
  await setTier(postgres, { chain: CHAIN, identityAddress: OWNER }, 'pro');
  const issued = await createKey(postgres, { chain: CHAIN, identityAddress: OWNER }, 'kept');
  const session = await openSession(postgres, { chain: CHAIN, identityAddress: OWNER });
  // A session lasts a day, but later versions open the folder much later.
  await postgres.pool.query("UPDATE sessions SET expires_at = '2100-01-01'");
  await resources.close();
  if (!issued) throw new Error('no key was issued');
  return { key: issued.key, session: session.token };
}

async function register(key: string): Promise<string> {
  const { port: receiverPort } = receiver.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/api/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ url: `http://127.0.0.1:${receiverPort}/hook`, events: ['block', 'reorg'] }),
  });
  if (!answer.ok) throw new Error(`the webhook was refused: ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
}

function write(contents: FolderContents): void {
  const target = join(ROOT, 'test/upgrade', release);
  mkdirSync(target, { recursive: true });
  packFolder(dataDir, join(target, 'data.tar.zst'));
  writeFileSync(join(target, 'contents.json'), `${JSON.stringify(contents, null, 2)}\n`);
  console.log(`${target}: ${statSync(join(target, 'data.tar.zst')).size} bytes`);
}
