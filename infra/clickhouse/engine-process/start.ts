/** Starts the program of the embedded engine (main.ts), and gives clients of it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PermanentError } from '../../../schemas/errors.ts';
import type { Client } from '../client.ts';
import { connectToEngine } from './connection.ts';

export type FromEngine = 'ready' | { readonly failed: string } | { readonly stalled: readonly string[] };

export interface EngineProcess {
  /** Resolves when it has ended, with how. */
  readonly ended: Promise<string>;
  /** A connection of the engine. */
  connect(): Promise<Client>;
  /** Ends it after the statements that it runs. */
  close(): Promise<void>;
  kill(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
/** Keeps what it strips of types, which Node.js would do again at each start. */
const STRIPPED_TYPES = new URL('../../launch/stripped-types.mjs', import.meta.url).href;
const CONFIG = fileURLToPath(new URL('./engine.xml', import.meta.url));
/** A statement holds a thread as long as it runs, so that this many run at once. */
const THREADS = '64';
/** For the engine of a killed program to let go of the folder, which it does at once. */
const LOCKED_MS = 20_000;
const LOCKED = /Cannot lock file/;
const CLOSE_MS = 60_000;
const MAX_SOCKET_PATH = 100;

/** @throws Error with the engine's message; PermanentError data_dir_too_long, clickhouse_locked */
export async function startEngineProcess(folder: string): Promise<EngineProcess> {
  for (const deadline = performance.now() + LOCKED_MS; ; ) {
    try {
      return await startOnce(folder);
    } catch (error) {
      if (!LOCKED.test(String(error))) throw error;
      if (performance.now() > deadline) throw lockedError(folder, error);
      await sleep(50);
    }
  }
}

function lockedError(folder: string, cause: unknown): PermanentError {
  const message = `Another ClickHouse has opened ${folder}, perhaps one that an earlier run left behind. End it, then start again.`;
  return new PermanentError('clickhouse_locked', message, { cause });
}

async function startOnce(folder: string): Promise<EngineProcess> {
  const place = mkdtempSync(join(tmpdir(), 'vs-clickhouse-'));
  const remove = () => {
    try {
      rmSync(place, { recursive: true, force: true });
    } catch {
      // The system clears its folder of temporary files: no reason to end with an error.
    }
  };
  const socket = join(place, 'socket');
  if (Buffer.byteLength(socket) > MAX_SOCKET_PATH) {
    remove();
    throw new PermanentError(
      'data_dir_too_long',
      `The folder of temporary files (${tmpdir()}) is too long for a socket, whose path may have at most ${MAX_SOCKET_PATH} characters. Use a shorter TMPDIR.`,
    );
  }
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--import', STRIPPED_TYPES, MAIN, folder, CONFIG, socket],
    // Its messages go to standard error: standard output is for the output of commands.
    { stdio: ['ignore', 2, 2, 'ipc'], env: { ...process.env, UV_THREADPOOL_SIZE: THREADS } },
  );
  let stalled = '';
  child.on('message', (message: FromEngine) => {
    if (typeof message === 'object' && 'stalled' in message) stalled = `it had lost ${message.stalled.join('; ')}`;
  });
  const killNow = () => child.kill('SIGKILL');
  process.prependOnceListener('exit', killNow);
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(stalled || String(signal ?? `code ${code}`)));
    // Without an id it was not started, and says no exit; an error of a later message means that an exit follows.
    child.on('error', (error) => child.pid === undefined && resolve(String(error)));
  }).finally(() => {
    process.removeListener('exit', killNow);
    remove();
  });
  await untilReady(child, ended);
  // A forgotten close() must not keep the program alive.
  child.unref();
  child.channel?.unref();
  return engineOf(child, ended, socket);
}

async function untilReady(child: ChildProcess, ended: Promise<string>): Promise<void> {
  const said = once(child, 'message').then(([message]) => message as FromEngine);
  const message = await Promise.race([said, ended.then((how): FromEngine => ({ failed: `it ended: ${how}` }))]);
  if (message === 'ready') return;
  await ended;
  throw new Error('failed' in message ? message.failed : `it stalled: ${message.stalled}`);
}

function engineOf(child: ChildProcess, ended: Promise<string>, socket: string): EngineProcess {
  async function end(ask: () => void): Promise<void> {
    child.ref(); // nothing else may be left that keeps the program alive until it has ended
    ask();
    const late = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS);
    await ended;
    clearTimeout(late);
  }

  return {
    ended,
    connect: () => connectToEngine(socket),
    close: () => end(() => child.connected && child.send('close', () => undefined)), // unsent where it has ended
    kill: () => end(() => child.kill('SIGKILL')),
  };
}
