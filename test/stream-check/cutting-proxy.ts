/** A proxy between clients and a server that restarts: one address for all its lives, and connections that break anywhere. */
import { createServer, connect as dial, type Socket } from 'node:net';

export interface CuttingProxy {
  readonly port: number;
  /** Target of new connections: a port of this machine or the path of a socket; null refuses them. */
  target: number | string | null;
  readonly open: number;
  readonly cuts: number;
  /** Breaks one connection in the middle of what the server sends next; `draw` in [0, 1) chooses which. */
  cut(draw: number): void;
  /** Breaks all connections at once. */
  cutAll(): void;
  stop(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export async function startCuttingProxy(): Promise<CuttingProxy> {
  const pairs = new Set<Pair>();
  const doomed = new Set<Pair>();
  let target: number | string | null = null;
  let cuts = 0;

  const listener = createServer({ pauseOnConnect: true }, (client) => {
    client.on('error', () => undefined);
    if (target === null) {
      client.destroy();
      return;
    }
    const server = typeof target === 'number' ? dial(target, '127.0.0.1') : dial(target);
    const pair = { client, server };
    pairs.add(pair);
    server.on('error', () => undefined);
    client.pipe(server);
    server.on('data', (chunk: Buffer) => {
      if (doomed.has(pair)) {
        cuts += 1;
        client.write(chunk.subarray(0, chunk.length / 2), () => end(pair));
        server.pause();
      } else if (!client.write(chunk)) {
        server.pause();
        client.once('drain', () => server.resume());
      }
    });
    for (const socket of [client, server]) socket.once('close', () => end(pair));
    client.resume();
  });

  function end(pair: Pair): void {
    pairs.delete(pair);
    doomed.delete(pair);
    pair.client.destroy();
    pair.server.destroy();
  }

  function cutAll(): void {
    for (const pair of [...pairs]) end(pair);
  }

  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    port: address.port,
    get target() {
      return target;
    },
    set target(next) {
      target = next;
    },
    get open() {
      return pairs.size;
    },
    get cuts() {
      return cuts;
    },
    cut(draw) {
      const pair = [...pairs][Math.floor(draw * pairs.size)];
      if (pair) doomed.add(pair);
    },
    cutAll,
    async stop() {
      const closed = new Promise((resolve) => listener.close(resolve));
      cutAll();
      await closed;
    },
  };
}
