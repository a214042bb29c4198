/** Starts and stops the server process of the embedded Postgres, and restarts it when it ends unexpectedly. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, PermanentError } from '../../../schemas/errors.ts';
import type { Logger } from '../../logger.ts';
import { errorCode } from '../../system-errors.ts';
import { ConnectTimeoutError } from '../connection-errors.ts';
import { createClient } from '../typed-client.ts';
import { endLeftover } from './leftover.ts';
import type { Command } from './server-user.ts';

export interface ServerOptions {
  readonly command: Command;
  /** URL of a database that always exists. */
  readonly url: string;
  /** Path of its socket, if it has one. */
  readonly socket: string | null;
  readonly data: string;
  readonly logger: Logger;
}

export interface ServerProcess {
  stop(): Promise<void>;
}

/** Limit without a sign of life; a report that the server is recovering renews it. */
const START_TIMEOUT_MS = 60_000;
/** Limits for a server that accepts the connection but does not answer; doubled for each retry, for a busy machine. */
const CONNECT_MS = { first: 5_000, most: 30_000 } as const;
const MOST_FIRST_STARTS = 3;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;
/** A server that ran for this long is restarted at once. */
const STABLE_MS = 60_000;
/** How often to check the socket: a running server does not notice its removal, but no client can connect any more. */
const SOCKET_LOOK_MS = 2_000;
const STARTING_UP = '57P03';

/** Resolves when the server answers. @throws PermanentError postgres_start_failed */
export async function runServer(options: ServerOptions): Promise<ServerProcess> {
  const { data, socket, logger } = options;
  const stopped = new AbortController();
  let startedAt = 0;
  /** Unexpected ends since the last server that ran for STABLE_MS. */
  let ends = 0;
  let restarting: Promise<void> = Promise.resolve();
  let server = await firstStart();
  process.once('exit', () => server.kill('SIGQUIT'));

  async function start(): Promise<ChildProcess> {
    const child = await startServer(options);
    startedAt = performance.now();
    const looking = setInterval(() => {
      if (socket === null || existsSync(socket)) return;
      clearInterval(looking);
      if (stopped.signal.aborted) return; // a server removes its socket as it ends
      logger.error(
        { code: 'postgres_unreachable', socket },
        'the socket of the embedded Postgres was removed: ending it',
      );
      child.kill('SIGINT');
    }, SOCKET_LOOK_MS).unref();
    child.once('exit', (code, signal) => {
      clearInterval(looking);
      if (!stopped.signal.aborted) restarting = restart(`${signal ?? `code ${code}`}`);
    });
    return child;
  }

  /** Retries if the server was killed while it started, since the next attempt may well succeed. */
  async function firstStart(): Promise<ChildProcess> {
    for (let tries = 1; ; tries++) {
      try {
        return await start();
      } catch (error) {
        if (!(error instanceof PermanentError && killedAtStart.has(error)) || tries === MOST_FIRST_STARTS) throw error;
        logger.error(
          { code: 'postgres_unreachable' },
          'the embedded Postgres was killed while it started; starting it again',
        );
        await endLeftover(data, logger);
      }
    }
  }

  async function restart(how: string): Promise<void> {
    if (performance.now() - startedAt > STABLE_MS) ends = 0;
    for (let reason = `it ended unexpectedly (${how})`; !stopped.signal.aborted; ) {
      const waitMs = ends === 0 ? 0 : Math.min(FIRST_WAIT_MS * 2 ** (ends - 1), LONGEST_WAIT_MS);
      ends++;
      logger.error(
        { code: 'postgres_unreachable', ends, waitMs },
        `the embedded Postgres does not run: ${reason}; starting it again ${waitMs ? `in ${waitMs / 1000} s` : 'now'}`,
      );
      try {
        await sleep(waitMs, undefined, { ref: false, signal: stopped.signal });
        await endLeftover(data, logger);
        server = await start();
        logger.warn('the embedded Postgres runs again');
        return;
      } catch (error) {
        reason = messageOf(error);
      }
    }
  }

  return {
    async stop() {
      stopped.abort();
      await restarting;
      await stopServer(server);
    },
  };
}

/** Errors of servers that were killed before they answered. */
const killedAtStart = new WeakSet<object>();

async function startServer(options: ServerOptions): Promise<ChildProcess> {
  const { command, logger } = options;
  const server = spawn(command.file, command.args, {
    ...command.options,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const output = collectOutput(server, logger);
  server.unref(); // a forgotten stop() must not keep the program alive
  const unstarted = once(server, 'error').then(([error]) => Promise.reject(error)); // as when no descriptor is left
  unstarted.catch(() => undefined);
  try {
    await Promise.race([untilReady(server, options.url), unstarted]);
    if (hasEnded(server)) throw new Error('it ended as soon as it answered'); // 'exit' had no listener yet
  } catch (cause) {
    const wasKilled = server.signalCode === 'SIGKILL';
    server.kill('SIGQUIT');
    const said = output() || messageOf(cause);
    const failure = new PermanentError('postgres_start_failed', `The embedded Postgres does not start: ${said}`, {
      cause,
    });
    if (wasKilled) killedAtStart.add(failure);
    throw failure;
  }
  return server;
}

function collectOutput(server: ChildProcess, logger: Logger): () => string {
  let last = '';
  if (server.stderr instanceof Socket) server.stderr.unref();
  server.stderr?.setEncoding('utf8').on('data', (text: string) => {
    last = (last + text).slice(-2000);
    logger.debug({ postgres: text.trim() }, 'postgres');
  });
  return () => last.trim();
}

async function untilReady(server: ChildProcess, connectionString: string): Promise<void> {
  let connectMs: number = CONNECT_MS.first;
  for (let deadline = performance.now() + START_TIMEOUT_MS; ; ) {
    const client = createClient({ connectionString }, { connectMs, statementMs: null, silentMs: null });
    client.on('error', () => undefined); // connect() has already reported it
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (errorCode(error) === STARTING_UP) deadline = performance.now() + START_TIMEOUT_MS;
      if (hasEnded(server) || performance.now() > deadline) throw error;
      if (error instanceof ConnectTimeoutError) connectMs = Math.min(2 * connectMs, CONNECT_MS.most);
      await sleep(50);
    }
  }
}

async function stopServer(server: ChildProcess): Promise<void> {
  if (hasEnded(server)) return;
  server.ref(); // keeps the program alive until the server has ended
  const exited = once(server, 'exit');
  server.kill('SIGINT'); // fast shutdown: ends sessions, keeps every commit
  await exited;
}

function hasEnded(server: ChildProcess): boolean {
  return server.exitCode !== null || server.signalCode !== null;
}
