/** Checks this machine: the data folder and its disk, memory, and the ports of the API and metrics. */
import { accessSync, constants, existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { DataFolderBusy, DataFolderUnusable, inspectDataFolder } from '../../infra/data-folder/data-folder.ts';
import { diskSpaceOf, existingAbove } from '../../infra/data-folder/disk-space.ts';
import { memoryBytes } from '../../infra/memory.ts';
import { type Config, usesDataFolder } from '../../schemas/config.ts';
import { roomFinding } from './check-room.ts';
import { type Finding, findingsOf } from './finding.ts';

const GIB = 1024 ** 3;
const LEAST_MEMORY_GIB = 1;
const ENOUGH_MEMORY_GIB = 4;
const ANSWER_MS = 5_000;

export async function checkMachine(config: Config): Promise<readonly Finding[]> {
  const findings = [memory()];
  // Without a data folder, nothing tells whose verustream answers on a port.
  let isOwn = true;
  if (usesDataFolder(config)) {
    const folder = dataFolder(config.dataDir);
    findings.push(...folder.findings);
    isOwn = folder.isInUse;
  }
  if (config.roles.includes('serve')) findings.push(await port('port', config.host, config.port, isOwn));
  if (config.metricsPort !== null) findings.push(await port('metrics port', config.host, config.metricsPort, isOwn));
  return findings;
}

function memory(): Finding {
  const { right, note, wrong } = findingsOf('memory');
  const bytes = memoryBytes();
  const says = `${(bytes / GIB).toFixed(1)} GiB`;
  if (bytes < LEAST_MEMORY_GIB * GIB) return wrong(says, `give this process ${LEAST_MEMORY_GIB} GiB or more`);
  if (bytes < ENOUGH_MEMORY_GIB * GIB)
    return note(says, `a first sync is faster with ${ENOUGH_MEMORY_GIB} GiB or more`);
  return right(says);
}

/** `isInUse`: whether a service runs on the folder; a verustream that answers on the port is then this service. */
function dataFolder(folder: string): { findings: readonly Finding[]; isInUse: boolean } {
  const { right, note, wrong, failed } = findingsOf('data folder');
  const path = resolve(folder);
  const findings: Finding[] = [];
  let isInUse = false;
  if (existsSync(path)) {
    try {
      if (inspectDataFolder(path).isOpen) findings.push(note(`${path}: other users may enter it`, `chmod 700 ${path}`));
      else findings.push(right(`${path} is free and closed to other users`));
    } catch (error) {
      isInUse = error instanceof DataFolderBusy;
      if (isInUse) findings.push(note(`${path} is used by a running service`));
      else findings.push(failed(error, 'free the folder, make it writable, or set DATA_DIR'));
    }
  } else findings.push(toBeCreated(path));
  try {
    findings.push(roomFinding(diskSpaceOf(path).freeBytes, 'data folder', 'its disk'));
  } catch (error) {
    findings.push(
      wrong(`the free space of its disk cannot be read: ${String(error)}`, 'set DATA_DIR to a folder on a local disk'),
    );
  }
  return { findings, isInUse };
}

function toBeCreated(path: string): Finding {
  const { right, failed } = findingsOf('data folder');
  try {
    accessSync(existingAbove(path), constants.W_OK | constants.X_OK);
    return right(`${path} will be created at start`);
  } catch (error) {
    return failed(new DataFolderUnusable(path, error), 'create it for the user of the service, or set DATA_DIR');
  }
}

/** The port must be free, or in use by the service itself. */
async function port(subject: string, host: string, number: number, isOwn: boolean): Promise<Finding> {
  const { right, note, wrong } = findingsOf(subject);
  const where = `${host}:${number}`;
  const refused = await listenError(host, number);
  if (refused === null) return right(`${where} is free`);
  if (refused.code === 'EADDRINUSE' && (await isVerustream(host, number))) {
    if (isOwn) return note(`${where} is used by a running verustream`);
    return wrong(`${where} is used by a verustream with another data folder`, 'set another port, or its DATA_DIR');
  }
  const mend =
    refused.code === 'EACCES' ? 'use a port from 1024 on, behind a proxy' : 'end that process, or set another port';
  return wrong(`cannot listen on ${where}: ${refused.message}`, mend);
}

function listenError(host: string, number: number): Promise<NodeJS.ErrnoException | null> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', done);
    server.listen(number, host, () => server.close(() => done(null)));
  });
}

async function isVerustream(host: string, number: number): Promise<boolean> {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  try {
    const answer = await fetch(`http://${reached}:${number}/api/health`, { signal: AbortSignal.timeout(ANSWER_MS) });
    const { status } = (await answer.json()) as { status?: unknown };
    return status === 'ok' || status === 'degraded';
  } catch {
    return false; // another program uses the port
  }
}
