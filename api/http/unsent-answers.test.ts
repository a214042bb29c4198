/** Answers that clients do not read, or read late: their memory is bounded, and a client that reads gets every byte. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { sendRaw } from '../../test/support/api/http/raw-client.ts';
import { type SmallApi, startSmallApi } from '../../test/support/api/http/small-api.ts';
import { createBufferedBodies } from './buffered-bodies.ts';
import { type Answer, liveRoute } from './route.ts';
import type { UnsentAnswersOptions } from './unsent-answers.ts';

const MEBIBYTE = 2 ** 20;
/** The system buffers about half of these bytes for a client that reads nothing. */
const LARGE = Buffer.alloc(8 * MEBIBYTE, 'large\n');
const open = { summary: '', parameters: {}, response: {}, weight: 1, cache: 'none' } as const;

/** Number of large answers that were made. */
let made = 0;

async function start(unsent: UnsentAnswersOptions = {}): Promise<SmallApi> {
  const answer = (body: Buffer): Answer => {
    made += 1;
    return { body, contentType: 'a/b' };
  };
  const routes = [
    liveRoute({ ...open, path: '/large', handler: async () => answer(LARGE) }),
    liveRoute({ ...open, path: '/fresh', handler: async () => answer(Buffer.from(LARGE)) }),
    liveRoute({ ...open, path: '/made', method: 'POST', handler: async () => answer(LARGE) }),
  ];
  return startSmallApi({ routes, unsent });
}

let api: SmallApi;
beforeAll(async () => {
  api = await start();
});
afterAll(() => api.close());
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const get = (path: string, method = 'GET', network = '10.0.0.1') =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${network}\r\n\r\n`;

interface Reader {
  readonly socket: Socket;
  /** Reads until so many bytes have arrived, or the connection ends. */
  read(bytes: number): Promise<Buffer>;
  isClosed(): boolean;
}

/** A client that reads only in `read`, and not more than one chunk of the system beyond the bytes asked for. */
function reader(port: number): Reader {
  const socket = connect({ port, host: '127.0.0.1' }).pause();
  sockets.push(socket);
  let closed = false;
  const waiting: Buffer[] = [];
  let length = 0;
  let changed = () => {};
  socket
    .on('error', () => undefined)
    .on('close', () => {
      closed = true;
      changed();
    })
    .on('data', (bytes) => {
      waiting.push(bytes);
      length += bytes.length;
      changed();
    })
    .pause();
  return {
    socket,
    isClosed: () => closed,
    async read(bytes) {
      socket.resume();
      while (length < bytes && !closed) {
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
      }
      socket.pause();
      const all = waiting.length === 1 ? (waiting[0] as Buffer) : Buffer.concat(waiting);
      const rest = all.subarray(bytes);
      waiting.splice(0, waiting.length, rest);
      length = rest.length;
      return all.subarray(0, bytes);
    },
  };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10);
}

/** Reads the body of the next answer, or its first bytes. */
async function bodyOf({ read }: Pick<Reader, 'read'>, first = Number.POSITIVE_INFINITY): Promise<Buffer> {
  let head = '';
  while (!head.endsWith('\r\n\r\n')) {
    const byte = await read(1);
    if (byte.length === 0) return byte;
    head += String(byte);
  }
  return read(Math.min(first, Number(/Content-Length: (\d+)/.exec(head)?.[1])));
}

it('a connection with an unread answer is closed at its next request, and keeps no copy', async () => {
  const before = process.memoryUsage.rss();
  for (let connections = 0; connections < 3; connections++) {
    const { socket, isClosed } = reader(api.port);
    for (let asked = 0; asked < 10 && !isClosed(); asked++) {
      const [before, since] = [made, performance.now()];
      socket.write(get('/large'));
      // A client that does not read notices only at its next write that the connection is closed.
      await until(() => isClosed() || made > before || performance.now() - since > 500);
      await sleep(10); // lets the answer be written
    }
  }
  expect((process.memoryUsage.rss() - before) / MEBIBYTE).toBeLessThan(80);
});

it('small answers to pipelined requests are complete and in order', async () => {
  const asked = Array.from({ length: 10 }, (_, n) => `/nowhere/${n}`);
  await sendRaw(api.port, [get('/nowhere')], { quietMs: 200, answers: 1 });
  const { text, closed } = await sendRaw(api.port, [asked.map((path) => get(path)).join('')], {
    quietMs: 500,
    answers: asked.length,
  });
  const answered = [...text.matchAll(/"detail":"there is no (\S+):/g)].map(([, path]) => path);
  expect(answered).toEqual(asked);
  expect(closed).toBe(false);
});

it('a connection stays usable after a large answer, after HEAD, and after an error', async () => {
  const client = reader(api.port);
  for (let n = 0; n < 3; n++) {
    client.socket.write(get('/large'));
    expect((await bodyOf(client)).equals(LARGE)).toBe(true);
    client.socket.write(get('/read', 'HEAD'));
    expect(String(await client.read(15))).toBe('HTTP/1.1 200 OK');
    let head = '';
    while (!head.endsWith('\r\n\r\n')) head += String(await client.read(1));
    client.socket.write(get('/nowhere'));
    expect(String(await bodyOf(client))).toContain('there is no /nowhere');
  }
  expect(client.isClosed()).toBe(false);
});

const PREFLIGHT = 'OPTIONS /read HTTP/1.1\r\nHost: x\r\nOrigin: x\r\nAccess-Control-Request-Method: GET\r\n\r\n';

it.each([
  ['HEAD', get('/read', 'HEAD'), '200 OK'],
  ['a preflight', PREFLIGHT, '204 No Content'],
])('an answer without a body can be the last one of its connection: %s', async (_name, request, status) => {
  const last = await start({ withoutBody: 1 });
  const client = reader(last.port);
  client.socket.write(request);
  const head = String(await client.read(10_000));
  expect(client.isClosed()).toBe(true);
  expect(head.startsWith(`HTTP/1.1 ${status}\r\n`)).toBe(true);
  expect(head.endsWith('\r\nConnection: close\r\n\r\n')).toBe(true);
  expect(head.match(/\r\n\r\n/g)).toHaveLength(1);
  last.close();
});

it('answers without a body do not pile up for a client that does not read', async () => {
  const usual = await start({ withoutBody: 256 });
  const { socket, isClosed } = reader(usual.port);
  for (let sent = 0; sent < 1_000 && !isClosed(); sent++) {
    socket.write(PREFLIGHT.repeat(100));
    await sleep(1);
  }
  expect(isClosed()).toBe(true);
  usual.close();
});

it('the last answer of a connection is complete, however large', async () => {
  const client = reader(api.port);
  client.socket.write('POST /made HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n');
  await sleep(300);
  expect((await bodyOf(client)).equals(LARGE)).toBe(true);
});

it('a reader on a slow line gets the whole answer, even if it takes longer than uWebSockets.js waits for room', async () => {
  const client = reader(api.port);
  client.socket.write(get('/large'));
  const parts = [await bodyOf(client, 0)];
  for (let second = 0; second < 14; second++) {
    parts.push(await client.read(30_000));
    await sleep(1_000);
  }
  parts.push(await client.read(LARGE.length - 14 * 30_000));
  expect(Buffer.concat(parts).equals(LARGE)).toBe(true);
});

it('a reader that stops is disconnected', async () => {
  const underWay = { count: 0, sending: 0 };
  const impatient = await start({ underWay, least: { bytesPerSecond: 2 ** 30, overMs: 300 } });
  const { socket, read } = reader(impatient.port);
  socket.write(get('/large'));
  await until(() => underWay.sending === 1);
  await until(() => underWay.sending === 0);
  expect((await read(LARGE.length)).length).toBeLessThan(LARGE.length);
  impatient.close();
});

it('unread answers of a network are evicted for its other answers, and those of other networks are not', async () => {
  const underWay = { count: 0, sending: 0 };
  const counted = createBufferedBodies({ most: 40 * MEBIBYTE, mostOfNetwork: 16 * MEBIBYTE });
  const bounded = await start({ underWay, counted });
  const honest = reader(bounded.port);
  honest.socket.write(get('/fresh', 'GET', '10.0.0.2'));
  await until(() => underWay.sending === 1);
  const answered = made + 12;
  for (let n = 0; n < 12; n++) reader(bounded.port).socket.write(get('/fresh'));
  await until(() => made === answered && underWay.sending <= 4);
  expect((await bodyOf(honest)).equals(LARGE)).toBe(true);
  const last = reader(bounded.port);
  last.socket.write(get('/fresh'));
  expect((await bodyOf(last)).equals(LARGE)).toBe(true);
  bounded.close();
});

it('all answers are counted in full, and the largest is evicted beyond the bound', async () => {
  const underWay = { count: 0, sending: 0 };
  const least = { bytesPerSecond: 1, overMs: 600_000 };
  const bounded = await start({ underWay, least, most: 14 * MEBIBYTE });
  const first = made;
  // Each answer has half of its bytes or more unsent, and belongs to another network.
  for (let n = 0; n < 5; n++) {
    reader(bounded.port).socket.write(get('/fresh', 'GET', `10.0.1.${n}`));
    await until(() => made === first + n + 1);
    await sleep(100); // lets the answer be written
  }
  await until(() => underWay.sending <= 3);
  expect(underWay.sending).toBeGreaterThan(0);
  bounded.close();
});
