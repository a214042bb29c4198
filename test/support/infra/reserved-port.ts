/**
 * Ports for servers that are given a port or restart on it. Each port is one half of a pair: the process that listens on the other half owns
 * it, even while the server is down. The system assigns neither half, because its range starts above these.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Pairs begin here, at even numbers; Linux assigns ports from 32768 on, other systems from 49152. */
const FIRST = 20_000;
const PAIRS = 6_000;

export interface ReservedPort {
  readonly port: number;
  /** Releases the port, as the end of the process does. */
  release(): void;
}

/** A TCP port of 127.0.0.1 that no other caller gets until it is released. */
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

/** Returns null when the port is in use. */
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
