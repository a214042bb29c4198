/** `play-recording`: serves the bundled recording as a daemon, for a demo whose roles are spread over processes. */

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BlockRef } from '../domain/block-ref.ts';
import { createFolder } from '../infra/create-folder.ts';
import { pause } from '../infra/repeat-until.ts';
import { errorCode } from '../infra/system-errors.ts';
import type { Config } from '../schemas/config.ts';
import { PermanentError, UsageError } from '../schemas/errors.ts';
import type { CommandContext, CommandOutcome, Output } from './command.ts';
import type { InputOf } from './command-table.ts';

const RECORDING = fileURLToPath(new URL('../recordings/private-network', import.meta.url));
const PACE_SECONDS = 5;
const LONGEST_SECONDS = 3600;

/** Exit code 0 after SIGTERM. @throws UsageError, PermanentError config_invalid, port_unavailable */
export async function run(
  { config, logger, signal }: CommandContext,
  { seconds: given = String(PACE_SECONDS) }: InputOf<'play-recording'>,
  { line }: Output,
): Promise<CommandOutcome> {
  const seconds = Number(given);
  if (!(seconds > 0 && seconds <= LONGEST_SECONDS)) {
    throw new UsageError(
      `"${given}" is not a number of seconds; allowed is more than 0 and at most ${LONGEST_SECONDS}`,
    );
  }
  const { user, password, port } = daemonOf(config);
  const { startRecordedNode } = await import('../recordings/player/recorded-node.ts');
  const { standWhere } = await import('../recordings/player/resume.ts');
  const { host, dataDir } = config;
  const node = await startRecordedNode({ folder: RECORDING, host, port, user, password, startHeight: 0 }).catch(
    (cause: unknown) => {
      const message = `cannot listen on ${host}:${port}: it is in use or not allowed. Set HOST or the port of the chain's daemon.`;
      throw new PermanentError('port_unavailable', message, { cause });
    },
  );
  try {
    createFolder(dataDir, 0o700);
    const file = join(dataDir, 'recorded-daemon.json');
    standWhere(node, readPosition(file));
    line(`the recorded daemon listens on ${host}:${port} at block ${node.height}, a block every ${seconds} s`);
    while (!signal.aborted) {
      writePosition(file, node);
      if (node.ended)
        logger.info({ height: node.height }, 'the recording has ended; the chain does not grow any further');
      await pause(node.ended ? 2 ** 31 - 1 : seconds * 1000, signal);
      if (!signal.aborted) node.step();
    }
    return { exitCode: 0, state: null };
  } finally {
    await node.stop();
  }
}

function daemonOf({ chains, demo }: Config): { user: string; password: string; port: number } {
  const rpc = [chains[0]?.rpc ?? ''].flat()[0] ?? '';
  const url = URL.canParse(rpc) && !demo ? new URL(rpc) : null;
  if (url?.port && url.username && url.password) {
    const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    return { user, password, port: Number(url.port) };
  }
  const message =
    'The first chain needs a daemon http://user:password@host:port: the recording is played at that address.';
  throw new PermanentError('config_invalid', message);
}

function readPosition(file: string): BlockRef | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as BlockRef;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Writes atomically: the file is complete even if the process is killed meanwhile. */
function writePosition(file: string, { height, hash }: BlockRef): void {
  writeFileSync(`${file}.new`, JSON.stringify({ height, hash }));
  renameSync(`${file}.new`, file);
}
