/** `play-recording`: the bundled recording as a daemon of its own, for a demo whose roles are spread over processes. */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { BlockRef } from '../domain/block-ref.ts';
import type { Config } from '../schemas/config.ts';
import { PermanentError } from '../schemas/errors.ts';
import type { Command, CommandContext } from './command.ts';

const RECORDING = fileURLToPath(new URL('../recordings/private-network', import.meta.url));
const PACE_SECONDS = 5;
const USAGE = `play-recording [seconds a block, ${PACE_SECONDS} if not given]: listens on HOST at the port of the first chain's daemon, and takes its
user and password from there. Where it stands is kept in DATA_DIR, so that it goes on there after a restart. Until SIGTERM.`;

export const playRecording: Command = {
  name: 'play-recording',
  summary: 'serve the bundled recording as a daemon, a block every few seconds',
  usage: USAGE,
  run: play,
};

/** → 0 after SIGTERM. @throws PermanentError usage, config_invalid, port_unavailable */
async function play({ config, args, logger, print, signal }: CommandContext): Promise<number> {
  const [given = String(PACE_SECONDS), ...more] = args;
  const seconds = Number(given);
  if (!(seconds > 0 && seconds <= 3600) || more.length > 0) {
    throw new PermanentError('usage', `"${args.join(' ')}" is not a number of seconds up to 3600.\n${USAGE}`);
  }
  const { user, password, port } = daemonOf(config);
  const { startRecordedNode } = await import('../infra/recorded-node/recorded-node.ts');
  const { standWhere } = await import('../infra/recorded-node/resume.ts');
  const { host, dataDir } = config;
  const node = await startRecordedNode({ folder: RECORDING, host, port, user, password, startHeight: 0 }).catch(
    (cause: unknown) => {
      const message = `cannot listen on ${host}:${port}: it is in use or not allowed. Set HOST or the port of the chain's daemon.`;
      throw new PermanentError('port_unavailable', message, { cause });
    },
  );
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const file = join(dataDir, 'recorded-daemon.json');
    standWhere(node, readPosition(file));
    print(`the recorded daemon listens on ${host}:${port} at block ${node.height}, a block every ${seconds} s`);
    while (!signal.aborted) {
      writePosition(file, node);
      if (node.ended)
        logger.info({ height: node.height }, 'the recording has ended; the chain stands still from here on');
      await sleep(node.ended ? 2 ** 31 - 1 : seconds * 1000, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) node.step();
    }
    return 0;
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
    'The first chain needs a daemon http://user:password@host:port, in whose place the recording is played.';
  throw new PermanentError('config_invalid', message);
}

function readPosition(file: string): BlockRef | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as BlockRef;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Whole, also when the process is killed meanwhile. */
function writePosition(file: string, { height, hash }: BlockRef): void {
  writeFileSync(`${file}.new`, JSON.stringify({ height, hash }));
  renameSync(`${file}.new`, file);
}
