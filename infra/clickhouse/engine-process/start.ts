/** Starts the program of the embedded engine (main.ts) and opens client connections to it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PermanentError } from '../../../schemas/errors.ts';
import { fitsSocket, MAX_SOCKET_PATH } from '../../socket-path.ts';
import type { Client } from '../client.ts';
import { connectToEngine } from './connection.ts';

export type FromEngine = 'ready' | { readonly failed: string } | { readonly stalled: readonly string[] };

export interface EngineProcess {
  /** Resolves when the process has ended, with the signal, exit code or reason. */
  readonly ended: Promise<string>;
  connect(): Promise<Client>;
  /** Ends the process after its running statements. */
  close(): Promise<void>;
  kill(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
/** Caches modules with their types stripped; Node.js would strip them again at each start. */
const STRIPPED_TYPES = new URL('../../launch/stripped-types.mjs', import.meta.url).href;
const CONFIG = fileURLToPath(new URL('./engine.xml', import.meta.url));
/** Statements that can run at once: each occupies a thread while it runs. */
const THREADS = '64';
/** How long to wait for the engine of a killed program to unlock the folder, which it normally does at once. */
const LOCKED_MS = 20_000;
const LOCKED = /Cannot lock file/;
const CLOSE_MS = 60_000;

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
      // The system clears its temporary folder, so a leftover is not worth an error.
    }
  };
  const socket = join(place, 'socket');
  if (!fitsSocket(socket)) {
    remove();
    throw new PermanentError(
      'data_dir_too_long',
      `The folder of temporary files (${tmpdir()}) is too long for a socket, whose path may have at most ${MAX_SOCKET_PATH} bytes. Use a shorter TMPDIR.`,
    );
  }
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--import', STRIPPED_TYPES, MAIN, folder, CONFIG, socket],
    {
      // Both of its output streams go to standard error: standard output is for the output of commands.
      stdio: ['ignore', 2, 2, 'ipc'],
      env: { ...process.env, UV_THREADPOOL_SIZE: THREADS },
      // Ctrl-C in a terminal signals a whole process group; the engine could not ignore it until its modules are loaded.
      detached: true,
    },
  );
  let stalled = '';
  child.on('message', (message: FromEngine) => {
    if (typeof message === 'object' && 'stalled' in message) stalled = `it had lost ${message.stalled.join('; ')}`;
  });
  const killNow = () => child.kill('SIGKILL');
  process.prependOnceListener('exit', killNow);
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(stalled || String(signal ?? `code ${code}`)));
    // A process that could not be started has no pid and emits no 'exit'; after any other error 'exit' follows.
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
    child.ref(); // keeps the program alive until the engine has ended
    ask();
    const late = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS);
    await ended;
    clearTimeout(late);
  }

  return {
    ended,
    connect: () => connectToEngine(socket),
    close: () => end(() => child.connected && child.send('close', () => undefined)), // not sent if it has already ended
    kill: () => end(() => child.kill('SIGKILL')),
  };
}
