/** Replies as a client receives them. */

import { App, type HttpRequest, type TemplatedApp, us_socket_local_port } from 'uWebSockets.js';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { headerLines, joinLines, NO_LINES } from './header-lines.ts';
import { composedHead, type Reply, writeReply } from './reply.ts';
import { createUnsentAnswers } from './unsent-answers.ts';

let app: TemplatedApp;
afterEach(() => app.close());

/** Starts a server that answers every request with `replyTo`, and returns its URL. */
async function serving(
  replyTo: (req: HttpRequest) => Reply,
  own = NO_LINES,
  unsent = createUnsentAnswers(),
): Promise<string> {
  app = App().get('/*', (res, req) => {
    writeReply(res, replyTo(req), own, false, unsent, { network: '' });
  });
  const port = await new Promise<number>((resolve, reject) => {
    app.listen('127.0.0.1', 0, (socket) =>
      socket ? resolve(us_socket_local_port(socket)) : reject(new Error('no port')),
    );
  });
  return `http://127.0.0.1:${port}/`;
}

it('every line is a separate header', async () => {
  const headers = joinLines(headerLines({ 'X-A': 'a' }), headerLines({ 'X-B': 'tab\tand "quotes"' }));
  const url = await serving(() => ({ status: 404, headers, body: Buffer.from('body') }), headerLines({ 'X-C': '' }));
  const answer = await fetch(url);
  expect([answer.status, await answer.text()]).toEqual([404, 'body']);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'x-a': 'a',
    'x-b': 'tab\tand "quotes"',
    'x-c': '',
    'access-control-allow-origin': '*',
    'access-control-expose-headers': expect.stringMatching(/^ETag, .*X-Credits-Cost$/),
    'content-length': '4',
  });
});

it.each([100, 100_000, 1_000_000, 3_000_000])('a shared body of %i bytes ends as each request asks', async (bytes) => {
  const body = Buffer.alloc(bytes, 'a');
  const url = await serving((req) => ({ status: 200, headers: NO_LINES, body, end: `é${req.getQuery()}` }));
  const asked = Array.from({ length: 20 }, (_, n) => `${n}`.repeat(n + 1));
  const answers = await Promise.all(asked.map(async (own) => (await fetch(`${url}?${own}`)).text()));
  expect(answers.map((text) => [text.length, text.slice(bytes)])).toEqual(
    asked.map((own) => [bytes + 1 + own.length, `é${own}`]),
  );
  expect(body.equals(Buffer.alloc(bytes, 'a'))).toBe(true);
});

it('a composed head has the same bytes', async () => {
  const headers = joinLines(headerLines({ 'X-A': 'ä "quoted"' }), headerLines({ ETag: '"tag"' }));
  const body = Buffer.from('body');
  const own = joinLines(headerLines({ 'X-Limit': 'a: b' }), headerLines({ 'X-Request-Id': '1' }));
  const raw = async (reply: Reply, lines = own) => {
    const url = new URL(await serving(() => reply, lines));
    const socket = connect(Number(url.port), url.hostname);
    socket.end('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const text = (await buffer(socket)).toString('latin1');
    app.close();
    return text.replace(/Date: .*/, '');
  };
  for (const status of [200, 404]) {
    const reply = { status, headers, body };
    const made = await raw(reply);
    expect(made).toContain('X-Request-Id: 1');
    expect(await raw({ ...reply, head: composedHead(headers) })).toBe(made);
    expect(await raw({ ...reply, head: composedHead(headers) }, NO_LINES)).toBe(await raw(reply, NO_LINES));
  }
});

it.each([1, Number.POSITIVE_INFINITY])(
  'an empty body is sent without a body; one in %s is the last answer of its connection',
  async (withoutBody) => {
    const url = await serving(
      () => ({ status: 401, headers: NO_LINES, body: Buffer.alloc(0) }),
      NO_LINES,
      createUnsentAnswers({ withoutBody }),
    );
    const answer = await fetch(url);
    expect([answer.status, await answer.text()]).toEqual([401, '']);
    expect(answer.headers.get('content-length')).toBe('0');
    expect(answer.headers.get('connection')).toBe(withoutBody === 1 ? 'close' : null);
  },
);
