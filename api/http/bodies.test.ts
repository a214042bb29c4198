/** Large, slow and never finished bodies delay no other caller, and every request is charged. */
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { MAX_BATCH_BYTES } from '../../schemas/verusd/rpc-body.ts';
import { sendRaw } from '../../test/support/api/http/raw-client.ts';
import { type SmallApi, type SmallApiOptions, startSmallApi } from '../../test/support/api/http/small-api.ts';
import { type Answer, liveRoute } from './route.ts';

const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const closer of closers.splice(0).reverse()) closer();
});
async function start(options: SmallApiOptions = {}): Promise<SmallApi> {
  const api = await startSmallApi(options);
  closers.push(() => api.close());
  return api;
}

const CALL = '{"id":7,"method":"getinfo","params":[]}';
/** A call of another client without an answer for this long counts as hanging; generous, because this process also plays all attackers. */
const HANG_MS = 5_000;

async function ask(api: SmallApi, from: string, init: RequestInit = {}, path = '/') {
  const headers = { 'x-forwarded-for': from, ...init.headers };
  const signal = AbortSignal.timeout(HANG_MS);
  const response = await fetch(`http://127.0.0.1:${api.port}${path}`, {
    method: 'POST',
    body: CALL,
    signal,
    ...init,
    headers,
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

/** Sends the beginning of a body and never its end; reconnects when the connection is closed. */
function hoard(
  api: SmallApi,
  from: string,
  path: string,
  announced: number,
  bytes: number,
): { readonly closed: () => number } {
  let closed = 0;
  let socket: Socket;
  let ended = false;
  const open = () => {
    socket = connect(api.port, '127.0.0.1', () => {
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\nContent-Length: ${announced}\r\n\r\n`,
      );
      socket.write(Buffer.alloc(bytes, 32));
    });
    socket.on('error', () => undefined);
    socket.resume();
    socket.on('close', () => {
      closed += 1;
      if (!ended) setTimeout(open, 1_000);
    });
  };
  open();
  closers.push(() => {
    ended = true;
    socket.destroy();
  });
  return { closed: () => closed };
}

describe('unfinished bodies', () => {
  it.each([
    ['of one network', (_n: number) => '10.0.0.1'],
    ['of one /64', (n: number) => `2001:db8::${(n + 1).toString(16)}`],
    ['of twenty networks', (n: number) => `10.0.${n}.1`],
  ])(
    '%s on many connections: other clients still send small and large bodies, and memory stays bounded',
    async (_name, network) => {
      const api = await start();
      const before = process.memoryUsage().rss;
      const hoards = Array.from({ length: 24 }, (_, n) =>
        hoard(api, network(n % 20), '/', MAX_BATCH_BYTES, MAX_BATCH_BYTES - 10),
      );
      await sleep(1_500);
      for (let n = 0; n < 20; n++) {
        expect((await ask(api, `192.0.2.${n}`)).status).toBe(200);
        expect((await ask(api, `192.0.2.${n}`, { body: '{}' }, '/write')).status).toBe(200);
      }
      const large = JSON.stringify({ id: 7, method: 'decoderawtransaction', params: ['ab'.repeat(1024 * 1024)] });
      expect((await ask(api, '192.0.2.77', { body: large })).status).toBe(200);
      expect(api.received.at(-1)?.length).toBeGreaterThan(2 * 1024 * 1024);
      await expect.poll(() => hoards.reduce((sum, { closed }) => sum + closed(), 0)).toBeGreaterThan(0);
      expect(process.memoryUsage().rss - before).toBeLessThan(450 * 1024 * 1024);
    },
  );

  it('cost their sender one request at the headers, finished or not', async () => {
    const api = await start({ requestsPerMinute: 100 });
    for (let n = 0; n < 60; n++) hoard(api, '10.0.0.1', '/', 1_000, 10);
    for (let n = 0; n < 30; n++) hoard(api, '10.0.0.1', '/write', 1_000, 10);
    await expect
      .poll(async () => Number((await ask(api, '10.0.0.1')).headers.get('x-ratelimit-remaining')))
      .toBeLessThan(10);
  });
});

describe('a body that is too large', () => {
  it.each([
    ['JSON-RPC', '/', MAX_BATCH_BYTES],
    ['REST', '/write', 64 * 1024],
    ['a path without a body', '/read', 64 * 1024],
  ])('is refused at its headers: %s', async (_name, path, most) => {
    const api = await start();
    for (const length of [most + 1, 33_000_000, 999_999_999_999_999]) {
      const method = path === '/read' ? 'GET' : 'POST';
      const answer = await sendRaw(api.port, [
        `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`,
      ]);
      expect([answer.statuses, answer.closed]).toEqual([[413], length > 33_554_432]);
      expect(answer.text).toContain(String(most));
    }
    expect([api.received, api.answered]).toEqual([[], []]);
  });

  it('is refused and discarded as it arrives, and the connection serves the next request', async () => {
    const api = await start();
    const size = MAX_BATCH_BYTES + 8_000_000;
    const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n`;
    const next = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${CALL.length}\r\n\r\n${CALL}`;
    const before = process.memoryUsage().rss;
    const answer = await sendRaw(api.port, [head, ' '.repeat(size), next]);
    expect(answer.statuses).toEqual([413, 200]);
    expect(api.received.length).toBe(1);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it('in chunks is refused once it exceeds the limit', async () => {
    const api = await start();
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    const head = 'POST /write HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(await sendRaw(api.port, [head, chunk, chunk])).toMatchObject({ statuses: [413], closed: true });
  });
});

describe('every request is charged', () => {
  /** Sends the request many times from one network and counts the answers by status, in ascending order. */
  async function flood(send: () => Promise<{ readonly status: number }>, times: number): Promise<Map<number, number>> {
    const statuses = new Map<number, number>();
    for (let n = 0; n < times; n++) {
      const { status } = await send();
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    return statuses;
  }

  it.each([
    ['GET /', 405, '/', { method: 'GET', body: null }],
    ['PUT /', 405, '/', { method: 'PUT' }],
    ['GET /rpc/vrsc', 405, '/rpc/vrsc', { method: 'GET', body: null }],
    ['HEAD /', 405, '/', { method: 'HEAD', body: null }],
    ['an unknown chain', 404, '/rpc/nope', {}],
    ['an unknown path', 404, '/nowhere', { method: 'GET', body: null }],
    ['a plain OPTIONS', 204, '/', { method: 'OPTIONS', body: null }],
    ['a plain OPTIONS of REST', 204, '/read', { method: 'OPTIONS', body: null }],
    ['a wrong method of REST', 405, '/read', { method: 'DELETE', body: null }],
    ['a body that is no JSON', 400, '/write', { body: '{' }],
    ['a read', 200, '/read', { method: 'GET', body: null }],
    ['a HEAD', 200, '/read', { method: 'HEAD', body: null }],
  ] as const)('%s: a request and a credit', async (_name, status, path, init) => {
    const api = await start({ requestsPerMinute: 20, creditsPerMinute: 15 });
    const statuses = await flood(() => ask(api, '10.0.0.1', init, path), 30);
    expect([...statuses]).toEqual([
      [status, 15],
      [429, 15],
    ]);
  });

  it('also with an unknown host of JSON-RPC', async () => {
    const api = await start({ requestsPerMinute: 20, creditsPerMinute: 15 });
    const bytes = 'POST / HTTP/1.1\r\nHost: nope.rpc.x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}';
    const statuses = await flood(async () => ({ status: (await sendRaw(api.port, [bytes])).statuses[0] ?? 0 }), 20);
    expect([...statuses]).toEqual([
      [404, 15],
      [429, 5],
    ]);
  });

  it('one request also for paths that cost no credits', async () => {
    const api = await start({ requestsPerMinute: 20, creditsPerMinute: 15 });
    const statuses = await flood(() => ask(api, '10.0.0.1', { method: 'GET', body: null }, '/metrics'), 30);
    expect([...statuses]).toEqual([
      [200, 20],
      [429, 10],
    ]);
  });

  it('except a preflight of a browser: its constant answer is less work than a refusal', async () => {
    const api = await start({ requestsPerMinute: 5, creditsPerMinute: 5 });
    const headers = { origin: 'https://wallet.example', 'access-control-request-method': 'POST' };
    for (const path of ['/', '/rpc/vrsc', '/write', '/read']) {
      for (let n = 0; n < 10; n++) {
        const answer = await ask(api, '10.0.0.1', { method: 'OPTIONS', body: null, headers }, path);
        expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
      }
    }
    expect((await ask(api, '10.0.0.1')).status).toBe(200);
  });

  it('calls of JSON-RPC exactly: a hundred are admitted, and a batch is charged in full or refused', async () => {
    const api = await start({ requestsPerMinute: 100 });
    const batch = JSON.stringify(Array(5).fill({ id: 7, method: 'getinfo', params: [] }));
    const remaining = async (body: string) => {
      const { status, headers } = await ask(api, '10.0.0.1', { body });
      return [status, Number(headers.get('x-ratelimit-remaining'))];
    };
    expect(await remaining(CALL)).toEqual([200, 99]);
    for (let n = 1; n <= 18; n++) expect(await remaining(batch)).toEqual([200, 99 - 5 * n]);
    for (let n = 1; n <= 5; n++) expect(await remaining(CALL)).toEqual([200, 9 - n]);
    const before = api.received.length;
    // The batch is read before it is refused, so it costs one request.
    expect(await remaining(batch)).toEqual([429, 3]);
    expect(await remaining(CALL)).toEqual([200, 2]);
    expect(await remaining(CALL)).toEqual([200, 1]);
    expect(await remaining(CALL)).toEqual([200, 0]);
    expect(await remaining(CALL)).toEqual([429, 0]);
    expect(api.received.length - before).toBe(3);
  });

  it('a short refused call gets its id back and keeps its connection; a long one is not read', async () => {
    const api = await start({ requestsPerMinute: 1 });
    const post = (body: string) =>
      `POST / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 10.0.0.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    await ask(api, '10.0.0.1');
    const short = await sendRaw(api.port, [post(CALL)], { quietMs: 300, answers: 1 });
    expect([short.statuses, short.closed]).toEqual([[429], false]);
    expect(short.text).toContain('{"result":null,"error":{"code":-32005,"message":"Too many requests"},"id":7}');
    const long = await sendRaw(api.port, [post(`${CALL}${' '.repeat(5_000)}`).slice(0, 1_000)]);
    expect([long.statuses, long.closed]).toEqual([[429], true]);
  });
});

describe('a refused request of REST', () => {
  /** An API with room for one byte of bodies: any body that is held is evicted, which ends its connection. */
  async function exhausted(): Promise<SmallApi> {
    const api = await start({ requestsPerMinute: 1, held: { most: 1, mostOfNetwork: 1 } });
    expect((await ask(api, '10.0.0.1', { method: 'GET', body: null }, '/read')).status).toBe(200);
    return api;
  }
  async function refused(answers: number, pieces: (head: string) => readonly string[]) {
    const api = await exhausted();
    return sendRaw(api.port, pieces('POST /write HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 10.0.0.1\r\n'), {
      quietMs: 300,
      answers,
    });
  }

  it('holds no memory, whatever segments its body arrives in, and keeps its connection', async () => {
    const api = await exhausted();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    closers.push(() => agent.destroy());
    const send = (path: string, segments: readonly string[]) =>
      new Promise<readonly [status: number | undefined, reused: boolean]>((resolve, reject) => {
        const length = segments.reduce((sum, { length: bytes }) => sum + bytes, 0);
        const headers = { 'x-forwarded-for': '10.0.0.1', 'content-length': length };
        const sent = request({ port: api.port, host: '127.0.0.1', path, method: 'POST', agent, headers }, (answer) => {
          answer.resume().on('end', () => resolve([answer.statusCode, sent.reusedSocket]));
        }).on('error', reject);
        void (async () => {
          for (const segment of segments.slice(0, -1)) {
            sent.write(segment);
            await sleep(1);
          }
          sent.end(segments.at(-1)); // an answer before this call would end the connection on the client's side
        })();
      });
    expect(await send('/write', ['{}'])).toEqual([429, false]);
    const path = fc.constantFrom('/write', '/act', '/nowhere');
    const segment = fc.constantFrom(1, 2, 100, 5_000, 16_000).map((bytes) => ' '.repeat(bytes));
    await fc.assert(
      fc.asyncProperty(path, fc.array(segment, { minLength: 1, maxLength: 4 }), async (to, segments) => {
        expect(await send(to, segments)).toEqual([429, true]);
      }),
      { numRuns: 40 },
    );
  });

  it.each([
    ['Content-Length', 'Content-Length: 100\r\n\r\n', [' '.repeat(99)]],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n', [`5\r\n     \r\n`]],
  ])('is not answered before its body is complete: %s', async (_name, head, parts) => {
    const { statuses } = await refused(0, (start) => [start + head, ...parts]);
    expect(statuses).toEqual([]);
  });

  it('with endless chunks is refused once they exceed the limit of a body', async () => {
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    const { statuses, closed } = await refused(1, (head) => [
      `${head}Transfer-Encoding: chunked\r\n\r\n`,
      chunk,
      chunk,
    ]);
    expect([statuses, closed]).toEqual([[429], true]);
  });
});

describe('a request that is not answered in time', () => {
  it('gets 503 with the code too_slow, and keeps its charge', async () => {
    const stuck = liveRoute({
      path: '/stuck',
      summary: '',
      parameters: {},
      response: {},
      weight: 1,
      cache: 'none',
      handler: () => new Promise<Answer>(() => undefined),
    });
    const api = await start({ answerMs: 100, routes: [stuck], requestsPerMinute: 10 });
    const answer = await ask(api, '10.0.0.1', { method: 'GET', body: null }, '/stuck');
    expect([answer.status, JSON.parse(answer.text).code, answer.headers.get('retry-after')]).toEqual([
      503,
      'too_slow',
      '5',
    ]);
    const { headers } = await ask(api, '10.0.0.1', { method: 'GET', body: null }, '/read');
    expect(headers.get('x-ratelimit-remaining')).toBe('8');
  });
});
