/** Runs of processes on a data folder, which work until they are done or killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { openResources } from '../../commands/open-resources.ts';
import { loadConfig } from '../../infra/config/load-config.ts';
import { createEmbeddedEventLog } from '../../infra/event-log/embedded/embedded-event-log.ts';
import { endLeftover } from '../../infra/postgres/embedded/leftover.ts';
import type { Digests } from '../../pipeline/verify/store-digests.ts';
import { encodeBlocksRecord } from '../../schemas/log-codec.ts';
import { placed, type UnplacedRecord } from '../laws/chain-records.ts';
import { NODE_FLAGS } from '../support/infra/node-flags.ts';
import { storeDigests } from '../support/pipeline/verify/all-store-digests.ts';

const silent = pino({ level: 'silent' });
const PROCESS = fileURLToPath(new URL('./replay-process.ts', import.meta.url));

export interface Life {
  readonly killed: boolean;
  /** Milliseconds from the start of the process to its end, and to the opening of both stores (null when they were not opened). */
  readonly milliseconds: number;
  readonly opened: number | null;
}

/** When to kill the process: some time after its start, or after the stores are open. */
export interface Death {
  readonly after: 'start' | 'open';
  readonly milliseconds: number;
}

/** Creates a data folder whose log contains `records` and whose stores do not exist yet. */
export async function createDataFolder(records: readonly UnplacedRecord[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'verustream-crash-'));
  const log = createEmbeddedEventLog({ folder: join(folder, 'log') });
  const writer = await log.openWriter('blocks', chainName());
  await writer.append(
    placed(records).map((record) => ({ position: record.position, payload: encodeBlocksRecord(record) })),
  );
  await log.close();
  return folder;
}

export async function removeDataFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

/** @throws when the process fails by itself */
export async function live(folder: string, death: Death | null): Promise<Life> {
  const started = performance.now();
  const child = spawn(process.execPath, [...NODE_FLAGS, PROCESS, folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  let opened: number | null = null;
  const exited = once(child, 'exit');
  const open = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (opened === null && said.includes('open')) {
        opened = performance.now() - started;
        resolve();
      }
    });
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  if (death) {
    if (death.after === 'open') await Promise.race([open, exited]);
    await Promise.race([sleep(death.milliseconds), exited]);
    child.kill('SIGKILL');
  }
  const [code, signal] = (await exited) as [number | null, NodeJS.Signals | null];
  if (signal !== 'SIGKILL' && code !== 0)
    throw new Error(`the process failed (${code ?? signal}): ${said.slice(-2000)}`);
  return { killed: signal === 'SIGKILL', milliseconds: performance.now() - started, opened };
}

/** Digests of all chains; no process may be working on the folder. */
export async function digestsOf(folder: string): Promise<Digests> {
  const resources = await openResources(loadConfig({ DATA_DIR: folder }), silent);
  try {
    return await storeDigests(resources.stores);
  } finally {
    await resources.close();
  }
}

/** Ends the servers that a killed process left running. */
export async function endServers(folder: string): Promise<void> {
  await endLeftover(join(folder, 'postgres'), silent);
}

function chainName(): string {
  const [chain] = loadConfig({}).chains;
  if (!chain) throw new TypeError('no chain');
  return chain.name;
}
