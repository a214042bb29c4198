/**
 * Ports for servers that are told their port, or come back on it. Each is one half of a pair: whoever listens on the other half
 * owns it, also while the server is down. The system gives neither to anybody, since it takes from a range above these.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Pairs begin here, at even numbers; Linux hands out ports from 32768 on, others from 49152. */
const FIRST = 20_000;
const PAIRS = 6_000;

export interface ReservedPort {
  readonly port: number;
  /** Gives it up; the end of the process does so too. */
  release(): void;
}

/** A TCP port of 127.0.0.1 that no other caller of this gets until it is released. */
export async function reservePort(): Promise<ReservedPort> {
  const start = Math.floor(Math.random() * PAIRS);
  for (let pair = 0; pair < PAIRS; pair++) {
    const guardPort = FIRST + 2 * ((start + pair) % PAIRS);
    const guard = await listenOn(guardPort);
    if (!guard) continue;
    const server = await listenOn(guardPort + 1);
    if (server) {
      server.close();
      await once(server, 'close');
      guard.unref();
      return { port: guardPort + 1, release: () => guard.close() };
    }
    guard.close();
  }
  throw new Error(`no port from ${FIRST} to ${FIRST + 2 * PAIRS - 1} of 127.0.0.1 is free`);
}

/** Null when somebody else listens there. */
async function listenOn(port: number): Promise<Server | null> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return null;
    throw error;
  }
}
