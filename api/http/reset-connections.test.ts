/** Requests whose clients reset the connection just before they are read: the kernel still returns the bytes, but no address. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendRaw } from '../../test/support/api/http/raw-client.ts';
import { CHAIN, type SmallApi, startSmallApi } from '../../test/support/api/http/small-api.ts';
import { liveRoute } from './route.ts';

const VICTIMS = 20;
const REQUESTS_PER_MINUTE = 1_000;

let api: SmallApi;
/** Clients whose requests have reached the server but have not been read yet. */
let victims: readonly Socket[] = [];
beforeAll(async () => {
  const reset = liveRoute({
    path: '/reset',
    summary: '',
    parameters: {},
    response: {},
    weight: 0,
    cache: 'none',
    handler: async () => {
      for (const socket of victims) socket.resetAndDestroy();
      return { body: null };
    },
  });
  api = await startSmallApi({ requestsPerMinute: REQUESTS_PER_MINUTE, routes: [reset] });
});
afterAll(() => api?.close());

async function opened(): Promise<Socket> {
  const socket = connect({ port: api.port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** The server runs in this process: one turn of its event loop reads all that this turn has written, in the same order. */
async function sendAndReset(request: string): Promise<void> {
  const first = await opened();
  victims = await Promise.all(Array.from({ length: VICTIMS }, opened));
  await sleep(5); // all connections are accepted
  api.answered.length = 0;
  api.received.length = 0;
  for (const [index, socket] of [first, ...victims].entries()) socket.write(index === 0 ? get('/reset') : request);
  await once(first, 'data');
  first.destroy();
}

const post = (path: string, body: string, announced = body.length) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${announced}\r\n\r\n${body}`;
const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const call = '{"method":"getinfo","params":[],"id":7}';

it.each([
  ['a read', get('/read'), 1],
  ['several at once', get('/read').repeat(5), 5],
  ['behind a proxy', get('/read', 'X-Forwarded-For: 203.0.113.9\r\n'), 1],
  ['a head', get('/read').replace('GET', 'HEAD'), 1],
  ['a free read', get('/metrics'), 1],
  ['a body', post('/write', '{"a":1}'), 1],
  ['half a body', post('/write', '{"a":', 7), 0],
  ['an answer without a body', post('/act', ''), 1],
  ['JSON-RPC', post('/', call), 1],
  ['JSON-RPC of a chain', post(`/rpc/${CHAIN}`, call), 1],
  ['half a call', post('/', call.slice(0, 10), call.length), 0],
  ['no such path', get('/nowhere'), 0],
  ['no such method', get('/write'), 0],
  ['a preflight', 'OPTIONS /read HTTP/1.1\r\nHost: x\r\nOrigin: x\r\nAccess-Control-Request-Method: GET\r\n\r\n', 0],
  ['no HTTP', 'no HTTP\r\n\r\n', 0],
])('%s', async (_, request, served) => {
  await sendAndReset(request);
  await expect.poll(() => api.answered.length + api.received.length).toBe(served * VICTIMS);
  expect((await sendRaw(api.port, [get('/read', 'Connection: close\r\n')])).statuses).toEqual([200]);
});

it('uses up one shared allowance, and none of other callers', async () => {
  for (let asked = 0; asked <= REQUESTS_PER_MINUTE; asked += VICTIMS * 10) await sendAndReset(get('/read').repeat(10));
  await sendAndReset(get('/read', 'X-Forwarded-For: 203.0.113.9\r\n'));
  expect(api.answered).toEqual([]);
  expect((await sendRaw(api.port, [get('/read', 'Connection: close\r\n')])).statuses).toEqual([200]);
});
