/** Requests that no well-meaning client sends: none of them causes a fault of the service, and none hangs. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../client.ts';
import type { RunningService } from '../running-service.ts';

/** Longer than every time limit that ends a connection, shorter than a hang. */
const PATIENCE_MS = 40_000;

export function hostileRequestsConform(client: TestClient, service: () => RunningService): void {
  /** Writes bytes and reads until the other side closes; '' if it closes without an answer. */
  const exchange = (pieces: readonly (string | Buffer)[], pauseMs = 0) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(service().port, '127.0.0.1');
      const chunks: Buffer[] = [];
      const timer = setTimeout(() => {
        socket.destroy();
        reject(new Error(`no end in ${PATIENCE_MS} ms after ${Buffer.concat(chunks).subarray(0, 200)}`));
      }, PATIENCE_MS);
      const done = () => {
        clearTimeout(timer);
        resolve(Buffer.concat(chunks).toString('latin1'));
      };
      socket
        .on('data', (chunk) => chunks.push(chunk))
        .on('error', done)
        .on('close', done);
      void (async () => {
        for (const piece of pieces) {
          if (socket.destroyed) return;
          socket.write(piece);
          if (pauseMs > 0) await sleep(pauseMs);
        }
      })();
    });

  const get = (target: string, headers = '') =>
    `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${headers}Connection: close\r\n\r\n`;
  const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
  /** 0 if the connection was closed without an answer, as for input that is not HTTP. */
  const refused = (answer: string) => {
    const status = statusOf(answer);
    expect([0, 200, 304, 400, 404, 405, 408, 413, 414, 431, 505], answer.slice(0, 300)).toContain(status);
    return status;
  };

  describe('hostile requests', () => {
    it.each([
      ['bad UTF-8 in a path', '/api/identity/%ff%fe'],
      ['half of an escape', '/api/identity/%e'],
      ['an escaped NUL in a path', '/api/identity/a%00b'],
      ['an escaped NUL in a query', '/api/search/?q=a%00b'],
      ['bad UTF-8 in a query', '/api/search/?q=%ff%fe%80'],
      ['a lone surrogate', '/api/search/?q=%ed%a0%80'],
      ['an escaped slash', '/api/identity/a%2fb'],
      ['dots', '/api/docs/../../package.json'],
      ['escaped dots', '/api/docs/%2e%2e/%2e%2e/package.json'],
      ['a huge height', `/api/blocks/${'9'.repeat(400)}`],
      ['a height beyond 32 bits', '/api/blocks/2147483648'],
      ['a number of another kind', '/api/blocks/?page=1e400'],
      ['a negative page', '/api/blocks/?page=-1'],
      ['a page beyond 64 bits', '/api/blocks/?page=18446744073709551616'],
      ['infinity', '/api/conversions/?minUsd=Infinity'],
      ['a date of no calendar', '/api/conversions/?fromTime=2026-13-45'],
      ['a time beyond the type of the column', '/api/conversions/?fromTime=999999999999'],
      ['more days than the chain has', '/api/market/baskets/PureTri/reserves?days=3650'],
      ['names of the prototype', '/api/blocks/?__proto__=1&constructor=2&toString=3'],
      ['a parameter twice', '/api/blocks/?page=1&page=2'],
      ['hundreds of parameters', `/api/blocks/?${Array.from({ length: 300 }, (_, n) => `p${n}=${n}`).join('&')}`],
      ['a cursor of noise', `/api/blocks/?cursor=${'A'.repeat(900)}`],
      ['a cursor of another shape', `/api/blocks/?cursor=${Buffer.from('[1,{},[],null,9e99]').toString('base64url')}`],
      ['SQL', "/api/search/?q=';DROP%20TABLE%20blocks;--"],
      ['a pattern of LIKE', '/api/search/?q=%25%25%25%25'],
      ['many escapes', `/api/identity/${'%F0%9F%92%A9'.repeat(100)}`],
      ['an empty segment', '/api//blocks///5'],
      ['another form of address', 'http://localhost/api/blocks/5'],
    ])('%s', async (_what, target) => {
      const answer = await exchange([get(target)]);
      const status = refused(answer);
      if (status >= 400 && answer.includes('application/problem+json')) expect(answer).toMatch(/"code":"[a-z_]+"/);
    });

    it.each([
      ['/api/auth/challenge', { identity: 'a\0b' }],
      ['/api/auth/login', { challengeId: '\0', signature: 'c2ln' }],
    ])('a NUL in a body: %s', async (path, body) => {
      const text = JSON.stringify(body);
      const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n`;
      const answer = await exchange([`${head}Content-Length: ${text.length}\r\n\r\n${text}`]);
      expect(statusOf(answer)).toBe(400);
      expect(answer).toContain('holds a NUL character');
    });

    it('addresses and headers of any length', async () => {
      for (const kilobytes of [1, 16, 100, 1000]) {
        refused(await exchange([get(`/api/search/?q=${'a'.repeat(kilobytes * 1000)}`)]));
        refused(await exchange([get('/api/health', `X-Long: ${'a'.repeat(kilobytes * 1000)}\r\n`)]));
        refused(await exchange([get('/api/health', `If-None-Match: ${'"a",'.repeat(kilobytes * 250)}\r\n`)]));
      }
      refused(await exchange([get('/api/health', 'X-Many: 1\r\n'.repeat(500))]));
    });

    it('methods that do not exist', async () => {
      for (const method of ['TRACE', 'PROPFIND', 'CONNECT', 'get', 'DELETE', 'X'.repeat(200)]) {
        const answer = await exchange([
          `${method} /api/blocks/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
        ]);
        refused(answer);
      }
      const answer = await client.raw('/api/blocks/', { method: 'POST', body: '{"a":1}' });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    });

    it('no body after the headers of a HEAD request, whatever its path', async () => {
      for (const path of ['/api/auth/login', '/api/stream', '/api/nothing', '/api/blocks/none', '/api/blocks/', '/']) {
        const answer = await exchange([`HEAD ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`]);
        refused(answer);
        expect(answer.slice(answer.indexOf('\r\n\r\n') + 4), path).toBe('');
      }
    });

    // The next three wait for time limits that end a connection, so they run at the same time.
    it.concurrent('headers twice, and bytes that no header may contain', async () => {
      const hostile = [
        'Host: other\r\n',
        'If-None-Match: "a"\r\nIf-None-Match: "b"\r\n',
        'X-Request-Id: a\r\nX-Request-Id: b\r\n',
        'X-Request-Id: "><script>\r\n',
        'Content-Length: 5\r\nContent-Length: 6\r\n',
        'Content-Length: -1\r\n',
        'Content-Length: 99999999999999999999\r\n',
        'Transfer-Encoding: chunked\r\nContent-Length: 3\r\n',
        'Accept-Encoding: br;q=nan, gzip;q=-1, ,,;\r\n',
        'X-Bytes: \x80\xff\x01\r\n',
        ': no name\r\n',
        'no colon\r\n',
      ];
      const asked = hostile.map((headers) => exchange([Buffer.from(get('/api/health', headers), 'latin1')]));
      for (const answer of await Promise.all(asked)) refused(answer);
    });

    it.concurrent('input that is not HTTP', async () => {
      const noise = Buffer.from(Array.from({ length: 4096 }, (_, n) => (n * 2654435761) & 255));
      const words = [
        '\r\n\r\n\r\n\r\n',
        'GET\r\n\r\n',
        'GET /api/health HTTP/9.9\r\n\r\n',
        '\x16\x03\x01\x02\0\r\n\r\n',
      ];
      for (const answer of await Promise.all([noise, ...words].map((bytes) => exchange([bytes])))) refused(answer);
    });

    it.concurrent('a client that sends a byte now and then is disconnected, and delays no other client', async () => {
      const slow = exchange([...get('/api/health').slice(0, -2)].slice(0, 30), 1000);
      const body = exchange([`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{`]);
      for (let n = 0; n < 20; n++) {
        expect(await client.status('/api/health')).toBe(200);
        await sleep(100);
      }
      for (const answer of await Promise.all([slow, body])) refused(answer);
    });

    it('a query that takes too long is cancelled, with an error code', async () => {
      const forgetful = await service().startAnother({ keptBytes: 0 });
      const url = `http://127.0.0.1:${forgetful.port}/api/blocks/7`;
      const locker = await service().stores.postgres.pool.connect();
      try {
        await locker.query('BEGIN; LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE');
        const answer = await fetch(url);
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
        expect(((await answer.json()) as { code: string }).code).toBe('query_too_slow');
        await locker.query('ROLLBACK');
        expect((await fetch(url)).status).toBe(200);
      } finally {
        await locker.query('ROLLBACK'); // also after a failed expectation
        locker.release();
        await forgetful.close();
      }
    });
  });
}
