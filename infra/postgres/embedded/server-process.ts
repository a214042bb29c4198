/** The server process of the embedded Postgres: started, started again when it ends by itself, and stopped. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { PermanentError } from '../../../schemas/errors.ts';
import type { Logger } from '../../logger.ts';
import type { Command } from './unprivileged.ts';

export interface ServerProcess {
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;

/** Resolves when it answers on `port`. @throws PermanentError postgres_start_failed */
export async function runServer(command: Command, port: number, logger: Logger): Promise<ServerProcess> {
  let stopping = false;
  let restarting: Promise<void> = Promise.resolve();
  let server = await start();
  process.once('exit', () => server.kill('SIGQUIT'));

  async function start(): Promise<ChildProcess> {
    const child = await startServer(command, port, logger);
    child.once('exit', (code, signal) => {
      if (!stopping) restarting = restart(code, signal);
    });
    return child;
  }

  /** What holds its files open still, after the server was killed, ends first: Postgres refuses to start until then. */
  async function restart(code: number | null, signal: string | null): Promise<void> {
    logger.error({ code, signal }, 'the embedded Postgres has ended by itself; starting it again');
    for (let waitMs = FIRST_WAIT_MS; !stopping; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      try {
        server = await start();
        logger.warn('the embedded Postgres runs again');
        return;
      } catch (err) {
        const message = err instanceof Error ? err.message : String(err);
        logger.error({ err, waitMs }, `${message}; trying again`);
        await sleep(waitMs, undefined, { ref: false });
      }
    }
  }

  return {
    async stop() {
      stopping = true;
      await restarting;
      await stopServer(server);
    },
  };
}

async function startServer(command: Command, port: number, logger: Logger): Promise<ChildProcess> {
  const server = spawn(command.file, command.args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const output = collectOutput(server, logger);
  server.unref(); // a forgotten stop() must not keep the program alive
  await untilReady(server, port, output);
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

async function untilReady(server: ChildProcess, port: number, output: () => string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'verustream', database: 'postgres' });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (cause) {
      if (hasEnded(server) || Date.now() > deadline) {
        server.kill('SIGQUIT');
        throw new PermanentError('postgres_start_failed', `The embedded Postgres does not start: ${output()}`, {
          cause,
        });
      }
      await sleep(50);
    }
  }
}

async function stopServer(server: ChildProcess): Promise<void> {
  if (hasEnded(server)) return;
  server.ref(); // nothing else may be left that keeps the program alive until it has ended
  const exited = once(server, 'exit');
  server.kill('SIGINT'); // fast shutdown: ends sessions, keeps every commit
  await exited;
}

function hasEnded(server: ChildProcess): boolean {
  return server.exitCode !== null || server.signalCode !== null;
}
