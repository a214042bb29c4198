/** Requests with an ambiguous end are refused on every route, before anything in them is used. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRaw } from '../../test/support/api/http/raw-client.ts';
import { type SmallApi, startSmallApi } from '../../test/support/api/http/small-api.ts';

let api: SmallApi;
beforeAll(async () => {
  api = await startSmallApi();
});
afterAll(() => api.close());

const CALL = '{"id":7,"method":"getinfo","params":[]}';
/** A smuggled request: hidden behind another one so that the server takes it for a separate request. */
const HIDDEN = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${CALL.length}\r\n\r\n${CALL}`;
const PATHS = ['/', '/rpc/vrsc', '/write', '/act', '/nowhere'] as const;

const chunk = (data: string) => `${data.length.toString(16)}\r\n${data}\r\n`;
const chunked = (...data: string[]) => `${data.map(chunk).join('')}0\r\n\r\n`;

const anyCase = (text: string) =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((upper) => [...text].map((char, at) => (upper[at] ? char.toUpperCase() : char.toLowerCase())).join(''));
const space = fc.constantFrom('', ' ', '  ', '\t', ' \t ');

/** A header line with its name in any case and any space around its value. */
const line = (name: string, value: string) =>
  fc.tuple(anyCase(name), space, space).map(([cased, before, after]) => `${cased}:${before}${value}${after}\r\n`);

const lines = (...each: readonly (readonly [name: string, value: string])[]) =>
  fc
    .tuple(...each.map(([name, value]) => line(name, value)))
    .chain((made) =>
      fc.shuffledSubarray([...made, 'X-A: b\r\n'], { minLength: made.length + 1, maxLength: made.length + 1 }),
    )
    .map((made) => made.join(''));

/** Cuts the bytes into segments, never within the request line: uWebSockets.js answers some partial request lines with 505. */
function cut(bytes: string, places: readonly number[]): string[] {
  const from = bytes.indexOf('\r\n') + 2;
  const ends = [...new Set(places.map((place) => from + (place % (bytes.length - from))))].sort((a, b) => a - b);
  return [...ends, bytes.length]
    .map((end, index) => bytes.slice(ends[index - 1] ?? 0, end))
    .filter((piece) => piece !== '');
}
const places = fc.array(fc.nat(2_000), { maxLength: 4 });

async function untouched<T>(work: () => Promise<T>): Promise<T> {
  const before = [api.received.length, api.answered.length];
  const made = await work();
  expect([api.received.length, api.answered.length]).toEqual(before);
  return made;
}

const FAULTS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'two Content-Length': fc
    .tuple(fc.nat(100), fc.nat(100))
    .chain(([one, other]) => lines(['Host', 'x'], ['Content-Length', String(one)], ['Content-Length', String(other)])),
  'an empty Content-Length before another': fc.constant(`Host: x\r\nContent-Length:\r\nContent-Length: 5\r\n`),
  'a Content-Length that is not a decimal number': fc
    .constantFrom('', '+5', '-5', '0x5', '5,5', '5, 5', '5 5', '1e2', '5.0', '٥', '9'.repeat(16), '9'.repeat(40), 'abc')
    .chain((value) => lines(['Host', 'x'], ['Content-Length', value])),
  'Content-Length and Transfer-Encoding': fc
    .tuple(fc.constantFrom('chunked', '', 'identity', 'gzip'), fc.constantFrom('5', '0', ''))
    .chain(([coding, length]) => lines(['Host', 'x'], ['Transfer-Encoding', coding], ['Content-Length', length])),
  'two Transfer-Encoding': fc
    .tuple(fc.constantFrom('chunked', 'identity', ''), fc.constantFrom('chunked', 'gzip', ''))
    .chain(([one, other]) => lines(['Host', 'x'], ['Transfer-Encoding', one], ['Transfer-Encoding', other])),
  'a coding other than chunked': fc
    .constantFrom(
      'gzip, chunked',
      'chunked, chunked',
      'chunked, identity',
      'chunked;q=1',
      'xchunked',
      'chunked,',
      ',chunked',
      '"chunked"',
      'identity',
      'gzip',
      '',
      'chun ked',
    )
    .chain((coding) => lines(['Host', 'x'], ['Transfer-Encoding', coding])),
  'two Host': fc
    .tuple(fc.constantFrom('x', 'vrsc.rpc.x', ''), fc.constantFrom('x', 'y', ''), fc.constantFrom('', '5'))
    .chain(([one, other, length]) =>
      lines(['Host', one], ['Host', other], ...(length === '' ? [] : [['Content-Length', length] as const])),
    ),
  'a Host that is not a host': fc
    .constantFrom(
      'x/rpc/vrsc',
      'user@x',
      'user:secret@x',
      'x y',
      'x, y',
      'x,y',
      'x:123456',
      'x:80:80',
      'x:http',
      'x?a',
      'x#a',
    )
    .chain((host) => lines(['Host', host], ['Content-Length', '5'])),
  'no Host': fc.constant('X-Host: x\r\nContent-Length: 5\r\n'),
};

/** Malformed header lines make no request: it gets no answer, and the connection is closed at the idle limit. */
const NO_HEADERS: Readonly<Record<string, readonly string[]>> = {
  'space before the colon': ['Host: x\r\nContent-Length : 5\r\n', 'Host: x\r\nTransfer-Encoding\t: chunked\r\n'],
  'a folded line': ['Host: x\r\nContent-Length: 5\r\n 6\r\n', 'Host: x\r\nTransfer-Encoding:\r\n\tchunked\r\n'],
  'a bare LF or a control character': [
    'Host: x\nContent-Length: 5\r\n',
    'Host: x\r\nContent-Length: 5\n',
    'Host: x\r\nX-A: \u0000b\r\nContent-Length: 5\r\n',
    'Host: x\r\nX-A: a\rContent-Length: 5\r\n',
  ],
};

describe('refused with 400, and the connection closed', () => {
  it.each(Object.entries(FAULTS))('%s', async (_name, headers) => {
    const request = fc.tuple(headers, fc.constantFrom(...PATHS), places, fc.boolean());
    await fc.assert(
      fc.asyncProperty(request, async ([made, path, at, alone]) => {
        const bytes = `POST ${path} HTTP/1.1\r\n${made}\r\n${alone ? '' : `12345${HIDDEN}`}`;
        const answer = await untouched(() => sendRaw(api.port, cut(bytes, at)));
        expect([answer.statuses, answer.closed], `${bytes}\n→ ${answer.text.slice(0, 300)}`).toEqual([[400], true]);
      }),
      { numRuns: 25 },
    );
  });

  it.each(Object.entries(NO_HEADERS))('or left unanswered: %s', async (_name, headers) => {
    for (const made of headers) {
      const bytes = `POST / HTTP/1.1\r\n${made}\r\n12345${HIDDEN}`;
      const { statuses } = await untouched(() => sendRaw(api.port, [bytes], { quietMs: 300 }));
      expect(statuses.filter((status) => status !== 400)).toEqual([]);
    }
  });

  it.each([
    '',
    'x',
    'X-1.example.',
    'my_service:8080',
    '127.0.0.1:80',
    '[::1]',
    '[2001:db8::1]:443',
    'xn--caf-dma.example',
  ])('but not a Host like %j', async (host) => {
    const { statuses } = await sendRaw(api.port, [`GET /read HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`]);
    expect(statuses).toEqual([200]);
  });

  it('the problem says what is allowed', async () => {
    const { text } = await sendRaw(api.port, ['GET /read HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n']);
    const problem = JSON.parse(text.slice(text.indexOf('\r\n\r\n')));
    expect(problem).toMatchObject({
      status: 400,
      code: 'invalid_framing',
      detail: expect.stringContaining('one is allowed'),
    });
  });

  it.each(['GET', 'HEAD', 'DELETE', 'OPTIONS'])('a chunked body with %s, where it has no meaning', async (method) => {
    const bytes = `${method} /read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunked('hello')}${HIDDEN}`;
    expect(await untouched(() => sendRaw(api.port, [bytes]))).toMatchObject({ statuses: [400], closed: true });
  });
});

describe('chunks', () => {
  const send = (path: string, body: string, at: readonly number[] = []) =>
    sendRaw(api.port, cut(`POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}`, at));

  it('of any sizes in any segments make one body, and bytes behind them are no other request', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(sizes, places, async (each, at) => {
        const pieces: string[] = [];
        let rest = CALL;
        for (const size of each) {
          pieces.push(rest.slice(0, size));
          rest = rest.slice(size);
        }
        const body = chunked(...[...pieces, rest].filter((piece) => piece !== ''));
        const before = api.received.length;
        const answer = await send('/', body, at);
        expect([answer.statuses, answer.closed, api.received.length - before]).toEqual([[200], true, 1]);
        expect(api.received.at(-1)).toBe('{"method":"getinfo","params":[],"id":7}');
      }),
      { numRuns: 40 },
    );
  });

  it('work with REST too', async () => {
    expect((await send('/write', chunked('{"a"', ':1}'))).statuses).toEqual([200]);
    expect(api.answered.at(-1)).toBe('POST /write {"a":1}');
    expect((await send('/act', chunked('{}'))).statuses).toEqual([204]);
  });

  it.each(['-5', '+5', '0x5', 'z', '5z', 'ffffffffffffffffff', '5;a=1;b="2"', '\u00ff'])(
    'of the size %j cause no call',
    async (size) => {
      const answer = await untouched(() => send('/', `${size}\r\n${CALL}\r\n0\r\n\r\n`));
      expect(answer.statuses).not.toContain(200);
    },
  );

  it('with trailers, or with another request behind them in the same segment, cause no call and end the connection', async () => {
    const tails = fc.constantFrom(
      'X-A: b\r\n\r\n',
      'Content-Length: 5\r\n\r\n',
      '\r\nX',
      `\r\n${HIDDEN}`,
      '\r\nGET /read HTTP/1.1\r\nHost: x\r\n\r\n',
    );
    await fc.assert(
      fc.asyncProperty(tails, fc.constantFrom('/', '/write', '/act'), async (tail, path) => {
        const body = path === '/' ? CALL : '{}';
        const bytes = `${chunk(body)}0\r\n${tail}`;
        const before = [api.received.length, api.answered.length];
        const answer = await send(path, bytes);
        // A byte behind the body that is no complete request is never read, so the body itself is served.
        if (tail === '\r\nX') expect(answer.statuses.length).toBe(1);
        else {
          expect([api.received.length, api.answered.length]).toEqual(before);
          expect(answer.statuses).not.toContain(200);
        }
        expect(answer.closed).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it('that are refused before their end are also the last request of their connection', async () => {
    const strict = await startSmallApi({ requestsPerMinute: 1 });
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    await sendRaw(strict.port, [head + chunked(CALL)]);
    for (const path of ['/', '/write']) {
      const bytes = `${head.replace('/', path)}${chunked(CALL)}GET /read HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 10.0.0.9\r\n\r\n`;
      const answer = await sendRaw(strict.port, [bytes]);
      expect([answer.statuses.includes(200), answer.closed, strict.answered]).toEqual([false, true, []]);
    }
    strict.close();
  });

  it('end their connection, whatever follows later', async () => {
    for (const tail of ['X-A: b\r\n\r\n', `\r\n${HIDDEN}`, '\r\n']) {
      const before = api.received.length;
      const head = `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(CALL)}0\r\n`;
      const answer = await sendRaw(api.port, [head, tail]);
      // If the tail arrived in the same segment after all, the call was not made.
      expect([answer.statuses.includes(200), answer.closed]).toEqual([api.received.length - before === 1, true]);
    }
  });
});

describe('several requests on a connection', () => {
  const post = (path: string, body: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  it('with bodies in one segment: the connection is closed, and none is served', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('/', '/write', '/act'),
        fc.constantFrom('/', '/write', '/read'),
        async (first, second) => {
          const bytes = post(first, first === '/' ? CALL : '{}') + post(second, CALL);
          const answer = await untouched(() => sendRaw(api.port, [bytes]));
          expect([answer.statuses, answer.closed]).toEqual([[], true]);
        },
      ),
      { numRuns: 9 },
    );
  });

  it('a second body before the answer to the first is not served, wherever the bytes are cut', async () => {
    const slow = await startSmallApi({ daemon: () => new Promise(() => undefined) });
    const bytes = post('/', CALL);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), async (at) => {
        const before = slow.received.length;
        const answer = await sendRaw(slow.port, [bytes, ...cut(bytes, [at])]);
        expect([answer.statuses, answer.closed]).toEqual([[], true]);
        expect(slow.received.length - before).toBeLessThanOrEqual(1);
      }),
      { numRuns: 20 },
    );
    slow.close();
  });

  it('one after the other on a kept connection are each answered', async () => {
    const before = api.received.length;
    const http = await fetchTwice();
    expect(http).toEqual([200, 200]);
    expect(api.received.length - before).toBe(2);
  });

  it('requests of other connections are answered while some are refused', async () => {
    const bad = Array.from({ length: 20 }, () => sendRaw(api.port, ['POST / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n']));
    const good = await Promise.all(
      Array.from({ length: 20 }, () => fetch(`http://127.0.0.1:${api.port}/`, { method: 'POST', body: CALL })),
    );
    expect(good.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect((await Promise.all(bad)).map(({ statuses }) => statuses)).toEqual(Array(20).fill([400]));
  });

  async function fetchTwice(): Promise<number[]> {
    const statuses: number[] = [];
    for (let n = 0; n < 2; n++) {
      const response = await fetch(`http://127.0.0.1:${api.port}/`, { method: 'POST', body: CALL });
      await response.text();
      statuses.push(response.status);
    }
    return statuses;
  }
});
