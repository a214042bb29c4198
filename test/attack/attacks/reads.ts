/** Reads that look expensive, floods of refused requests, and logins for hosts that are not ours. */
import { type Attack, type AttackTarget, between, get, oneOf, post, repeat, send } from '../target.ts';

const LISTS = [
  '/api/conversions/',
  '/api/blocks/',
  '/api/oracle/conversions/',
  '/api/stakes/',
  '/api/identity/',
  '/api/search/',
];
const FILTERS = [
  'currency',
  'basket',
  'identity',
  'address',
  'from',
  'to',
  'q',
  'minUsd',
  'pageSize',
  'cursor',
  'format',
];

function read({ random }: AttackTarget): string {
  const query = Array.from({ length: between(random, 0, 6) }, () => {
    const values = [
      'x'.repeat(between(random, 1, 900)),
      `${between(random, -5, 1e9)}`,
      'ndjson',
      'PureTri@',
      '%00',
      'a,'.repeat(400),
    ];
    return `${oneOf(random, FILTERS)}=${encodeURIComponent(oneOf(random, values))}`;
  });
  return get(`${oneOf(random, LISTS)}?${query.join('&')}`);
}

function refused({ random }: AttackTarget): string | Buffer {
  return oneOf<() => string | Buffer>(random, [
    () => get('/'),
    () => get(`/api/${'a'.repeat(between(random, 1, 200))}`),
    () => get('/api/market/protocol', `Authorization: Bearer vst_${'x'.repeat(43)}\r\n`),
    () => post('/', '{"method":"getblockcount"}', 'Host: nope.rpc.example\r\n'),
    () => post('/rpc/nowhere', '{}'),
    () => 'OPTIONS / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://a.example\r\n\r\n',
    () => 'DELETE /api/keys/1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    () => get('/metrics'),
  ])();
}

const flood = (name: string, request: (target: AttackTarget) => string | Buffer): Attack => ({
  name,
  run: (target) =>
    repeat(target, 4, 5, async () => send(target, oneOf(target.random, target.networks), [request(target)])),
});

export const heavyReads = flood('heavy reads', read);
export const refusedRequests = flood('refused requests', refused);
export const foreignLogins = flood('foreign logins', ({ random }) => {
  const body = JSON.stringify({
    identity: oneOf(random, ['alice@', 'x'.repeat(between(random, 1, 2000)), 'a.'.repeat(500)]),
  });
  const host = `evil${between(random, 1, 99)}.example`;
  return `POST /api/auth/challenge HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
});
