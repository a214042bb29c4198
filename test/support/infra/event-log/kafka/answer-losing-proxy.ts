/** A TCP proxy before one Kafka broker that can lose the broker's answer to a request that the broker has carried out. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { ISocketFactory } from 'kafkajs';

/** Numbers of requests in the Kafka protocol. */
export const API = { produce: 0, initProducerId: 22, addPartitionsToTransaction: 24, endTransaction: 26 } as const;

export interface AnswerLosingProxy {
  /** Leads every connection of a client through the proxy, whatever address the broker gives. */
  readonly socketFactory: ISocketFactory;
  /** The next answer to such a request is not passed on; its connection breaks. Resolves when that has happened. */
  loseAnswer(apiKey: number): Promise<void>;
  close(): Promise<void>;
}

export async function startAnswerLosingProxy(broker: string): Promise<AnswerLosingProxy> {
  const [host, port] = broker.split(':');
  const sockets = new Set<Socket>();
  let armed: { readonly apiKey: number; readonly onLost: () => void } | null = null;

  const server = createServer((client) => {
    const upstream = connect(Number(port), host);
    let lost: number | null = null;
    let onLost = () => {};
    const destroy = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', destroy).on('close', () => {
        sockets.delete(socket);
        destroy();
      });
    }
    onFrames(client, (frame) => {
      if (armed && frame.readInt16BE(4) === armed.apiKey) {
        lost = frame.readInt32BE(8);
        onLost = armed.onLost;
        armed = null;
      }
      upstream.write(frame);
    });
    onFrames(upstream, (frame) => {
      if (frame.readInt32BE(4) !== lost) return client.write(frame);
      destroy();
      onLost();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxyPort = (server.address() as AddressInfo).port;

  return {
    socketFactory: ({ onConnect }) => connect(proxyPort, '127.0.0.1', onConnect),
    loseAnswer: (apiKey) =>
      new Promise((onLost) => {
        armed = { apiKey, onLost };
      }),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Calls back with each whole frame, its length of 4 bytes included. */
function onFrames(socket: Socket, onFrame: (frame: Buffer) => void): void {
  let chunks: Buffer[] = [];
  let held = 0;
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    held += chunk.length;
    if (held < 4) return;
    let rest = chunks.length === 1 || (chunks[0]?.length ?? 0) < 4 ? Buffer.concat(chunks) : null;
    // A large frame comes in many chunks: they are joined once.
    const needed = 4 + (rest ?? chunks[0] ?? chunk).readInt32BE(0);
    if (held < needed) {
      if (rest) chunks = [rest];
      return;
    }
    rest ??= Buffer.concat(chunks);
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
      const length = 4 + rest.readInt32BE(0);
      onFrame(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
    chunks = [rest];
    held = rest.length;
  });
}
