/** Ends of answers whose bytes the connection has copied but not sent yet. */
import { App } from 'uWebSockets.js';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { type ClientLine, narrowLine } from '../../test/support/api/http/lines.ts';
import { createUnsentAnswers } from './unsent-answers.ts';

const MOST = 2 ** 20;
const HEAD_ENDS = '\r\n\r\n';
/** Time after which the bytes have been offered once more, and the rest of them copied. */
const OFFERED_MS = 6_000;

let line: ClientLine;
afterEach(() => line.close());

/** Measures with `/full` how many bytes the system takes at once; then `/` has 10 kB more. Counts how often `/` is served. */
async function serve(closes: boolean): Promise<{ readonly bytes: () => number; readonly served: () => number }> {
  const unsent = createUnsentAnswers({ least: { bytesPerSecond: 1, overMs: 600_000 } });
  let [bytes, served] = [0, 0];
  const app = App()
    .get('/full', (res) => {
      res.onAborted(() => {});
      res.cork(() => res.tryEnd(Buffer.alloc(MOST), MOST));
      bytes = res.getWriteOffset() + 10_000;
      res.close();
    })
    .get('/', (res) => {
      served += 1;
      const body = Buffer.alloc(bytes, 'body\n');
      if (res.tryEnd(body, bytes)[1]) throw new Error('the system took all');
      void unsent.send(res, { bytes: body.subarray(res.getWriteOffset()), total: bytes, closes }, '');
    });
  line = await narrowLine(app);
  ask('/full');
  while (bytes === 0) await sleep(10);
  return { bytes: () => bytes, served: () => served };
}

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** The socket reads nothing until it is resumed. */
function ask(path: string): Socket {
  const socket = line.connect().pause();
  sockets.push(socket);
  socket.on('error', () => undefined).write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return socket;
}

it('the last bytes reach a reader that pauses longer than uWebSockets.js waits for room', async () => {
  const { bytes } = await serve(false);
  const socket = ask('/');
  await sleep(OFFERED_MS + 16_000);
  let read = '';
  await new Promise<void>((resolve) => {
    socket.on('close', resolve).on('data', (part) => {
      read += part.toString('latin1');
      if (read.length - read.indexOf(HEAD_ENDS) - HEAD_ENDS.length === bytes()) resolve();
    });
    socket.resume();
  });
  expect(read.length - read.indexOf(HEAD_ENDS) - HEAD_ENDS.length).toBe(bytes());
});

it('nothing is served after the last answer of a connection, even once the rest of it has been copied', async () => {
  const { served } = await serve(true);
  const socket = ask('/');
  await sleep(OFFERED_MS);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await sleep(1_000);
  expect(served()).toBe(1);
});
