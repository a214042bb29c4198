/** Connections that are reset with requests on them while the service reads others: no client is left to read the answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, between, get, oneOf, open, post, repeat } from '../target.ts';

const UPGRADE =
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
const REQUESTS = [
  get('/'),
  get('/api/'),
  get('/api/health'),
  get('/api/health/ready'),
  get('/metrics'),
  get('/api/blocks/?pageSize=100'),
  get('/api/blocks/?format=ndjson'),
  get('/api/oracle/prices'),
  get('/api/oracle/prices', 'Authorization: Bearer vst_none\r\n'),
  get('/api/oracle/prices', 'X-Forwarded-For: 203.0.113.9\r\n'),
  get('/api/docs/swagger-ui-bundle.js'),
  get('/api/datasets/'),
  get('/api/datasets/conversions.json'),
  get('/datasets?list-type=2'),
  get('/api/stream?channels=blocks'),
  get('/api/ws', UPGRADE),
  get('/nowhere'),
  get('/api/openapi.json').replace('GET', 'HEAD'),
  get('/api/blocks/', 'Origin: x\r\nAccess-Control-Request-Method: GET\r\n').replace('GET', 'OPTIONS'),
  post('/', '{"method":"getinfo","params":[],"id":1}').toString(),
  post('/', `[${Array(5).fill('{"method":"getblockcount","params":[],"id":1}').join()}]`).toString(),
  post('/', '{"method":"getinfo"').toString().replace('Content-Length: 19', 'Content-Length: 50'),
  post('/api/auth/challenge', '{"identity":"alice@"}').toString(),
];
const AT_ONCE = 20;

export const resetConnections: Attack = {
  name: 'connections that are reset',
  run: (target) =>
    repeat(target, 4, 5, async () => {
      const { random, networks } = target;
      const sockets = Array.from({ length: AT_ONCE }, () => open(target, oneOf(random, networks)).socket);
      await sleep(between(random, 1, 10));
      for (const socket of sockets) socket.write(oneOf(random, REQUESTS).repeat(between(random, 1, 10)));
      await sleep(between(random, 0, 3));
      for (const socket of sockets) socket.resetAndDestroy();
      target.tally('reset');
    }),
};
