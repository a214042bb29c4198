/** The floor: only fetches each block on its notification and sends the bytes to all clients. */

import { App, us_socket_local_port } from 'uWebSockets.js';
import { Pool } from 'undici';
import { Subscriber } from 'zeromq';
import type { ReadyChain } from '../ready-daemon/ready-daemon.ts';

const chains: readonly ReadyChain[] = JSON.parse(process.argv[2] ?? '[]');
const app = App().ws('/*', { open: (socket) => void socket.subscribe('blocks') });
app.listen('127.0.0.1', 0, (socket) => {
  if (socket) process.send?.(us_socket_local_port(socket));
});
process.on('disconnect', () => process.exit());

async function follow({ rpc, zmq }: ReadyChain): Promise<void> {
  const pool = new Pool(new URL(rpc).origin, { connections: 1 });
  const subscriber = new Subscriber();
  subscriber.connect(zmq);
  subscriber.subscribe('hashblock');
  for await (const [, hash] of subscriber) {
    const body = JSON.stringify({ id: 1, method: 'getblock', params: [hash?.toString('hex'), 2] });
    const reply = await pool.request({ path: '/', method: 'POST', body });
    app.publish('blocks', await reply.body.arrayBuffer());
  }
}

await Promise.all(chains.map(follow));
