/** Bodies that continue after their request was answered, on connections whose clients read nothing: uWebSockets.js keeps these open. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendRaw } from '../../test/support/api/http/raw-client.ts';
import { type SmallApi, startSmallApi } from '../../test/support/api/http/small-api.ts';

const REQUESTS_PER_MINUTE = 20;
const MB = 1024 * 1024;

let api: SmallApi;
beforeAll(async () => {
  api = await startSmallApi({ requestsPerMinute: REQUESTS_PER_MINUTE });
});
afterAll(() => api?.close());

const PREFLIGHT = 'OPTIONS /read HTTP/1.1\r\nHost: x\r\nOrigin: x\r\nAccess-Control-Request-Method: GET\r\n\r\n';

/** Returns a connection that takes no more answers: its client has sent many preflights and read none of the answers. */
async function fullConnection(): Promise<Socket> {
  const socket = connect({ port: api.port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  for (let sent = 0; sent < 12_000; sent += 500) {
    socket.write(PREFLIGHT.repeat(500));
    await sleep(2);
  }
  await sleep(50);
  return socket;
}

const head = (path: string, lines: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 10.0.0.1\r\n${lines}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const PIECE = Buffer.alloc(64 * 1024, 'x');
const CALLS = 6;

async function useUpAllowance(): Promise<void> {
  const read = 'GET /read HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 10.0.0.1\r\n\r\n';
  const requests = 2 * REQUESTS_PER_MINUTE;
  await sendRaw(api.port, [read.repeat(requests)], { quietMs: 200, answers: requests });
}

it.each([
  ['a chunked body that is too large', '/write', 2],
  ['a chunked call that is too large', '/', 200],
  ['a chunked call that has been refused', '/rpc/vrsc', 20],
])('%s, whose end arrives after the answer', async (_, path, pieces) => {
  await useUpAllowance();
  for (let tries = 0; tries < 3; tries++) {
    const socket = await fullConnection();
    socket.write(`${head(path, CHUNKED)}${(pieces * PIECE.length + 1).toString(16)}\r\n`);
    for (let sent = 0; sent < pieces; sent++) socket.write(PIECE);
    await sleep(50); // it is answered
    socket.write('x\r\n0\r\n\r\n');
    await sleep(20);
    const answered = await sendRaw(api.port, ['GET /read HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n']);
    expect(answered.statuses).toEqual([200]);
    socket.destroy();
  }
});

it('a refused call uses no memory, however long it is', async () => {
  await useUpAllowance();
  const sockets: Socket[] = [];
  for (let count = 0; count < CALLS; count++) sockets.push(await fullConnection());
  const before = process.memoryUsage().arrayBuffers;
  for (const socket of sockets) socket.write(head('/', `Content-Length: ${7.5 * MB}\r\n`));
  await sleep(50);
  for (const socket of sockets) for (let sent = 0; sent < 7 * MB; sent += PIECE.length) socket.write(PIECE);
  await expect.poll(() => sockets.every(({ writableLength }) => writableLength === 0)).toBe(true);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan((CALLS * 7 * MB) / 2);
  for (const socket of sockets) socket.destroy();
});
