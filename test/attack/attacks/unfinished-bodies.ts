/** Connections that announce large bodies, send almost all of each body, and never finish. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, oneOf, open, repeat } from '../target.ts';

const LANES = 24;
const CHUNK = Buffer.alloc(256 * 1024, 32);

export const unfinishedBodies: Attack = {
  name: 'unfinished bodies',
  run: (target) =>
    repeat(target, LANES, 50, async () => {
      const { random, networks, tally } = target;
      const { socket, closed } = open(target, oneOf(random, networks));
      const size = oneOf(random, [100_000, 1_000_000, 4_000_000, 33_000_000]);
      const path = oneOf(random, ['/', '/', '/', '/api/auth/challenge', '/api/webhooks']);
      const announced = oneOf(random, [`Content-Length: ${size}`, 'Transfer-Encoding: chunked']);
      socket.write(`POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${announced}\r\n\r\n`);
      for (let sent = 0; sent + CHUNK.length < size && !socket.destroyed; sent += CHUNK.length) {
        if (announced.startsWith('Transfer')) socket.write(`${CHUNK.length.toString(16)}\r\n`);
        socket.write(CHUNK);
        if (announced.startsWith('Transfer')) socket.write('\r\n');
        if (socket.writableNeedDrain) await sleep(20);
      }
      await Promise.race([closed, sleep(10_000)]);
      tally(socket.destroyed ? 'closed' : 'held');
      socket.destroy();
    }),
};
