/** How answers travel: validators, compression, HEAD, what caches may keep, and the block that they were computed at. */
import { Agent, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../client.ts';
import { blocks, tip } from '../truth.ts';

interface Plain {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export function answersConform(client: TestClient, url: () => string): void {
  /** A single connection, so that an answer that closes it too early is noticed. */
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  /** Sends a request without a client library, which would decompress the answer. */
  const plain = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<Plain>((resolve, reject) => {
      const asked = request(`${url()}${path}`, { headers, method, agent }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
        );
      });
      asked.on('error', reject).end();
    });

  describe('answers on the wire', () => {
    // A prepared answer, two answers of queries, and one from memory.
    it.each(['/api/market/pairs', '/api/blocks/?pageSize=50', '/api/blocks/?numbers=text', '/api/openapi.json'])(
      '%s is compressed',
      async (path) => {
        const whole = await plain(path);
        expect(whole.headers['content-encoding']).toBeUndefined();
        expect(whole.headers.vary).toContain('Accept-Encoding');
        expect(String(whole.headers.vary).startsWith('Accept,')).toBe(path !== '/api/openapi.json');
        for (const [sent, encoding, open] of [
          ['gzip, br', 'br', brotliDecompressSync],
          ['gzip', 'gzip', gunzipSync],
        ] as const) {
          const answer = await plain(path, { 'Accept-Encoding': sent });
          expect(answer.headers['content-encoding']).toBe(encoding);
          expect(answer.body.byteLength).toBeLessThan(whole.body.byteLength / 2);
          expect(open(answer.body).equals(whole.body)).toBe(true);
          const { etag } = answer.headers;
          if (typeof etag !== 'string') continue;
          expect(etag).not.toBe(whole.headers.etag);
          const again = await plain(path, { 'Accept-Encoding': sent, 'If-None-Match': etag });
          expect([again.status, again.headers.etag, again.body.byteLength]).toEqual([304, etag, 0]);
        }
      },
    );

    it('HEAD answers like GET, without the body', async () => {
      for (const path of ['/api/blocks/5', '/api/market/pairs', '/api/health', '/api/blocks/99999999']) {
        const [get, head] = [await plain(path), await plain(path, {}, 'HEAD')];
        expect([path, head.status, head.body.byteLength]).toEqual([path, get.status, 0]);
        for (const name of ['content-type', 'etag', 'cache-control', 'x-chain-state']) {
          expect([path, name, head.headers[name]]).toEqual([path, name, get.headers[name]]);
        }
        // The body of an error contains the id of the request.
        if (get.status === 200) expect(head.headers['content-length']).toBe(String(get.body.byteLength));
      }
    });

    it('names the block that it was computed at', async () => {
      const state = `vrsc;height=${tip};hash="${blocks[tip].hash}";finalized=${tip - 100}`;
      for (const path of ['/api/stats/', '/api/market/protocol', '/api/blocks/5', '/api/conversions/']) {
        expect([path, (await plain(path)).headers['x-chain-state']]).toEqual([path, state]);
      }
      const estimate = await client.raw('/api/market/estimate?from=VRSCTEST&to=PureTri&amount=10'); // with a key
      expect(estimate.headers.get('x-chain-state')).toBe(state);
    });

    it('lets caches keep final answers for a while, and revalidate the others', async () => {
      const control = async (path: string) => (await plain(path)).headers['cache-control'];
      const [recent, final] = ['public, no-cache', 'public, max-age=300, stale-while-revalidate=86400'];
      expect(await control(`/api/blocks/${tip - 99}`)).toBe(recent);
      expect(await control(`/api/blocks/${tip - 100}`)).toBe(final);
      // However deep a transaction is, the next block may spend its outputs.
      expect(await control(`/api/tx/${blocks[5].tx[0].txid}`)).toBe(recent);
      expect(await control('/api/market/protocol')).toBe(recent);
      const estimate = await client.raw('/api/market/estimate?from=VRSCTEST&to=PureTri&amount=10');
      expect(estimate.headers.get('cache-control')).toBe('no-store');
      expect(await control('/api/blocks/99999999')).toBe('no-store');
    });

    it('may be read by a page of any origin', async () => {
      const answer = await client.raw('/api/health', { headers: { Origin: 'https://example.org' } });
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-expose-headers')).toContain('X-Chain-State');
      const preflight = await plain('/api/blocks/', { 'Access-Control-Request-Method': 'GET' }, 'OPTIONS');
      expect(preflight.status).toBe(204);
      expect(preflight.headers['access-control-allow-headers']).toContain('Authorization');
    });
  });
}
