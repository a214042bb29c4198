/** Clients that send requests as long as the program answers, and record when each was answered. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Program } from './program.ts';

export interface CountingClients {
  /** Number of requests sent, answered or not. */
  readonly sent: number;
  /** Time of each answer, in milliseconds of the test's clock. */
  readonly answeredAt: readonly number[];
  /** Resolves when all requests are done or the program has ended. Rejects when it answers anything but 200. */
  readonly ended: Promise<void>;
}

export interface Asking {
  readonly path: string;
  readonly key: string;
  readonly connections: number;
  /** Total number of requests of all connections. */
  readonly most?: number;
  /** Pause between two requests of a connection. */
  readonly pauseMs?: number;
}

export function startClients({ base }: Pick<Program, 'base'>, asking: Asking): CountingClients {
  const { path, key, connections, most = Number.POSITIVE_INFINITY, pauseMs = 0 } = asking;
  const pool = new Pool(base, { connections });
  const headers = { authorization: `Bearer ${key}` };
  const answeredAt: number[] = [];
  let sent = 0;

  async function ask(): Promise<void> {
    while (sent < most) {
      sent += 1;
      const answer = await pool.request({ method: 'GET', path, headers }).catch(() => null);
      if (answer === null) return; // the connection ended without an answer
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}`);
      answeredAt.push(performance.now());
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }

  const ended = Promise.all(Array.from({ length: connections }, ask)).then(() => pool.destroy());
  return {
    get sent() {
      return sent;
    },
    answeredAt,
    ended,
  };
}
