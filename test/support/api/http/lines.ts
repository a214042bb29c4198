/** Connections to a uWebSockets.js app whose sockets buffer much or little for a client. */
import { type TemplatedApp, us_socket_local_port } from 'uWebSockets.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ClientLine {
  connect(): Socket;
  close(): Promise<void>;
}

/** Over local TCP: buffers megabytes. */
export async function wideLine(app: TemplatedApp): Promise<ClientLine> {
  const port = await new Promise<number>((resolve, reject) => {
    app.listen('127.0.0.1', 0, (socket) =>
      socket ? resolve(us_socket_local_port(socket)) : reject(new Error('no port')),
    );
  });
  return { connect: () => connect({ port, host: '127.0.0.1' }), close: async () => void app.close() };
}

/** Over a Unix socket: buffers about 200 kB, like an ordinary connection. */
export async function narrowLine(app: TemplatedApp): Promise<ClientLine> {
  const folder = await mkdtemp(join(tmpdir(), 'verustream-line-'));
  const path = join(folder, 'socket');
  await new Promise<void>((resolve, reject) => {
    app.listen_unix((socket) => (socket ? resolve() : reject(new Error(`no socket at ${path}`))), path);
  });
  return {
    connect: () => connect(path),
    async close() {
      app.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
