import { App, us_socket_local_port } from 'uWebSockets.js';
import { expect, it } from 'vitest';
import { headerLines, joinLines } from './header-lines.ts';
import { writeReply } from './reply.ts';

it.each([
  ['a line more', { 'X-A': 'a\r\nX-B: b' }],
  ['a line feed', { 'X-A': 'a\nX-B: b' }],
  ['a NUL', { 'X-A': 'a\0' }],
  ['a name of two words', { 'X A': 'a' }],
  ['no name', { '': 'a' }],
  ['a name with a line more', { 'X-A: a\r\nX-B': 'b' }],
])('%s is no header', (_, headers: Record<string, string>) => {
  expect(() => headerLines(headers)).toThrow(TypeError);
});

it('every line is a header of its own on the wire', async () => {
  const headers = joinLines(headerLines({ 'X-A': 'a', 'X-B': 'tab\tand "quotes"' }), headerLines({ 'X-C': '' }));
  const app = App().get('/*', (res) => writeReply(res, { status: 404, headers, body: Buffer.from('body') }, false));
  const port = await new Promise<number>((resolve, reject) => {
    app.listen('127.0.0.1', 0, (socket) =>
      socket ? resolve(us_socket_local_port(socket)) : reject(new Error('no port')),
    );
  });
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  app.close();
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
