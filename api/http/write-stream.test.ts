/** Streams to readers that are slow, over real connections. */
import { App, type TemplatedApp, us_socket_local_port } from 'uWebSockets.js';
import { connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { clientOf } from './answered-client.ts';
import { NO_LINES } from './header-lines.ts';
import type { LeastPace } from './reader-pace.ts';
import { writeStream } from './write-stream.ts';

const MEBIBYTE = 2 ** 20;
const CHUNK = Buffer.alloc(4 * MEBIBYTE, 'row\n');
const CHUNKS = 25;
const LENIENT: LeastPace = { bytesPerSecond: 1, overMs: 600_000 };

let app: TemplatedApp;
afterEach(() => app.close());

/** Streams to a reader that takes this much and then pauses so long: what was made of the stream, at the end and before it was read. */
async function streamed(least: LeastPace, takes: number, pauseMs: number) {
  let [made, read] = [0, 0];
  async function* chunks() {
    for (let n = 0; n < CHUNKS; n++) {
      made += CHUNK.length;
      yield CHUNK;
    }
  }
  const ended = Promise.withResolvers<void>();
  app = App().get('/', (res) => {
    const client = clientOf(res);
    writeStream(res, { status: 200, headers: NO_LINES, body: null }, NO_LINES, chunks(), client, least).then(
      ended.resolve,
      ended.reject,
    );
  });
  const port = await new Promise<number>((resolve, reject) => {
    app.listen('127.0.0.1', 0, (socket) =>
      socket ? resolve(us_socket_local_port(socket)) : reject(new Error('no port')),
    );
  });
  const socket = connect({ port, host: '127.0.0.1' }, () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
  let [most, taken] = [0, 0];
  socket
    .on('error', () => undefined)
    .on('data', (bytes) => {
      read += bytes.length;
      most = Math.max(most, made - read);
      taken += bytes.length;
      if (taken < takes) return;
      taken = 0;
      socket.pause();
      setTimeout(() => socket.resume(), pauseMs);
    });
  await ended.promise;
  socket.destroy();
  return { made, most };
}

it('no more is made than a slow reader takes, besides a chunk and what the system keeps', async () => {
  const { made, most } = await streamed(LENIENT, MEBIBYTE, 10);
  expect(made).toBe(CHUNKS * CHUNK.length);
  expect(most).toBeLessThan(CHUNK.length + 16 * MEBIBYTE);
});

it('a reader that stops is given up, in the middle of the stream', async () => {
  const { made } = await streamed({ bytesPerSecond: 2 ** 30, overMs: 300 }, MEBIBYTE, 60_000);
  expect(made).toBeLessThan(CHUNKS * CHUNK.length);
});
