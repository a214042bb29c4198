/** Requests large answers, and many small ones, on connections that read nothing or only a little now and then. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, between, get, oneOf, open, repeat } from '../target.ts';

const PATHS = [
  '/api/docs/swagger-ui-bundle.js',
  '/api/openapi.json',
  '/api/blocks/?pageSize=100',
  '/api/conversions/?format=ndjson',
  '/nowhere',
];
const PREFLIGHT = 'OPTIONS /api/blocks/ HTTP/1.1\r\nHost: x\r\nOrigin: x\r\nAccess-Control-Request-Method: GET\r\n\r\n';

export const unreadAnswers: Attack = {
  name: 'answers that are not read',
  run: (target) =>
    repeat(target, 32, 20, async () => {
      const { random, networks } = target;
      const { socket } = open(target, oneOf(random, networks));
      socket.pause();
      const path = oneOf(random, PATHS);
      const request = oneOf(random, [
        get(path),
        get(path),
        get(path).replace('GET', 'HEAD').repeat(100),
        PREFLIGHT.repeat(100),
      ]);
      const readsSome = random() < 0.3;
      for (let asked = between(random, 1, 400); asked > 0 && !socket.destroyed && !target.signal.aborted; asked--) {
        socket.write(request);
        if (readsSome) socket.read(1_000);
        await sleep(between(random, 1, 20));
      }
      target.tally(socket.destroyed ? 'closed' : 'left');
      socket.destroy();
    }),
};
