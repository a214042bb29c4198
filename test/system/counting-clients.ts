/** Clients that ask as long as the program answers, and know what was answered and when. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Program } from './program.ts';

export interface CountingClients {
  /** Requests that were sent, answered or not. */
  readonly sent: number;
  /** Moment of each answer, in milliseconds of the test's clock. */
  readonly answeredAt: readonly number[];
  /** Resolves when all was asked, or when the program has gone. Rejects when it answers anything but 200. */
  readonly ended: Promise<void>;
}

export interface Asking {
  readonly path: string;
  readonly key: string;
  readonly connections: number;
  /** Requests of all connections together. */
  readonly most?: number;
  /** Between two requests of a connection. */
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
      if (answer === null) return; // the connection has ended without an answer
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
