/** A TCP proxy in front of one Kafka broker that can drop the answer to a request that the broker has executed. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { ISocketFactory } from 'kafkajs';

/** API keys of the Kafka protocol. */
export const API = { produce: 0, initProducerId: 22, addPartitionsToTransaction: 24, endTransaction: 26 } as const;

export interface AnswerLosingProxy {
  /** Routes every connection of a client through the proxy, whatever address the broker advertises. */
  readonly socketFactory: ISocketFactory;
  /** Drops the next answer to a request with this API key and breaks its connection. Resolves when that has happened. */
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

/** Calls back with each complete frame, including its 4-byte length. */
function onFrames(socket: Socket, onFrame: (frame: Buffer) => void): void {
  let chunks: Buffer[] = [];
  let held = 0;
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    held += chunk.length;
    if (held < 4) return;
    let rest = chunks.length === 1 || (chunks[0]?.length ?? 0) < 4 ? Buffer.concat(chunks) : null;
    // Joins the chunks of a large frame only once.
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
