/** A server that accepts connections and sends only what `greet` writes. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface SilentServer {
  /** 127.0.0.1:port */
  readonly host: string;
  /** Open connections. */
  connections(): number;
  stop(): Promise<void>;
}

/** `greet` is called with each connection. */
export async function startSilentServer(greet: (socket: Socket) => void = () => undefined): Promise<SilentServer> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => undefined); // the client has disconnected
    socket.resume();
    greet(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => open.size,
    async stop() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
