/** How the page is served: its policies, its cost, and what stays the same for other clients. */
import { get } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BuiltPage } from '../../api/page/page-source.ts';
import { CHAIN, type RunningService } from '../api/running-service.ts';
import type { ServedPage } from './opened-page.ts';

/** Sends a request with a Host header that differs from the connection's host. */
function statusAt(url: string, host: string, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(`${url}${path}`, { headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).on('error', reject);
  });
}

export function pageIsServed(page: () => ServedPage): void {
  describe('the page as it is served:', () => {
    let service: RunningService;
    let built: BuiltPage;
    let compileAs: ServedPage['compileAs'];

    beforeAll(() => {
      ({ service, built, compileAs } = page());
    });

    afterAll(async () => {
      compileAs(async () => built);
      await service.restartApi();
    });

    const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
      fetch(`${service.url}${path}`, { method, headers });

    describe('a document', () => {
      it('allows nothing from other origins, and costs nothing', async () => {
        const answer = await ask('/');
        expect(answer.status).toBe(200);
        expect(answer.headers.get('content-security-policy')).toContain("trusted-types 'none'");
        expect(answer.headers.get('content-security-policy')).toMatch(
          /^default-src 'none'; script-src 'self'; style-src 'self';/,
        );
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
        expect(answer.headers.get('cache-control')).toBe('no-cache');
        expect(answer.headers.get('ratelimit')).toBeNull();
      });

      it('is not sent again to a client that has it', async () => {
        const etag = (await ask('/')).headers.get('etag') ?? '';
        expect((await ask('/', { 'If-None-Match': etag })).status).toBe(304);
      });

      it('describes its address for readers without scripts', async () => {
        const html = await (await ask(`/${CHAIN}/block/7`)).text();
        expect(html).toContain(`<title>Block 7 · ${CHAIN} · verustream</title>`);
        expect(html).toContain(`<link rel="alternate" type="application/json" href="/api/blocks/7?chain=${CHAIN}">`);
        for (const file of ['block', 'main']) expect(html).toMatch(new RegExp(`/assets/${file}-[A-Z0-9]+\\.js`));
      });

      it('contains no markup from its address', async () => {
        const html = await (
          await ask(`/${CHAIN}/block/${encodeURIComponent('</title><script>alert(1)</script>')}`)
        ).text();
        expect(html).not.toContain('<script>alert');
        expect(html.match(/<script/g)).toHaveLength(2);
      });

      it('has a title without invisible characters, and without halves of characters', async () => {
        const name = `\u202E123456👍${'x'.repeat(20)}@\u200B`;
        const html = await (await ask(`/${CHAIN}/identity/${encodeURIComponent(name)}`)).text();
        const [, title] = /<title>(.*)<\/title>/.exec(html) ?? [];
        expect(title).toBe(`Identity \\u202E123456👍…xxxxxx@\\u200B · ${CHAIN} · verustream`);
      });

      it('of an unknown address is a page for people and a problem for programs', async () => {
        const forPeople = await ask('/no/such', { Accept: 'text/html,*/*' });
        expect([forPeople.status, forPeople.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
        const forPrograms = await ask('/no/such');
        expect([forPrograms.status, forPrograms.headers.get('content-type')]).toEqual([
          404,
          'application/problem+json',
        ]);
        expect((await ask('/api/no-such', { Accept: 'text/html' })).headers.get('content-type')).toBe(
          'application/problem+json',
        );
      });
    });

    describe('a file of the page', () => {
      it('is cached for ever, in the smallest encoding that the client accepts', async () => {
        for (const [name, { body, br, gzip }] of built.files) {
          for (const [encoding, length] of [
            ['br', br.byteLength],
            ['gzip', gzip.byteLength],
            ['identity', body.byteLength],
          ] as const) {
            const answer = await ask(`/assets/${name}`, { 'Accept-Encoding': encoding }, 'HEAD');
            expect(answer.status).toBe(200);
            expect(answer.headers.get('cache-control')).toContain('immutable');
            expect(Number(answer.headers.get('content-length')), `${name} as ${encoding}`).toBe(length);
          }
        }
        expect((await ask('/assets/main-GONE.js', { Accept: 'text/html' })).status).toBe(404);
      });

      it('is the same after each compilation', async () => {
        const { compilePage } = await import('../../web/build/build-page.ts');
        expect([...(await compilePage()).files.keys()].sort()).toEqual([...built.files.keys()].sort());
      });
    });

    describe('next to the page', () => {
      it('JSON-RPC answers as before', async () => {
        const call = { method: 'POST', body: JSON.stringify({ id: 1, method: 'getblockcount' }) };
        expect((await fetch(`${service.url}/`, call)).status).toBe(200);
        expect((await ask(`/rpc/${CHAIN}`)).status).toBe(405);
        expect((await ask('/', {}, 'DELETE')).status).toBe(405);
        expect(await statusAt(service.url, 'rpc.example.org', '/')).toBe(405);
        expect(await statusAt(service.url, `${CHAIN}.rpc.example.org`, '/')).toBe(405);
        expect(await statusAt(service.url, 'example.org', '/')).toBe(200);
      });

      it('the API answers while the page is compiled, and where compiling fails', async () => {
        const ready = Promise.withResolvers<BuiltPage>();
        compileAs(() => ready.promise);
        await service.restartApi();
        expect((await ask('/api/health')).status).toBe(200);
        const early = await ask('/');
        expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);
        ready.resolve(built);
        expect((await ask('/')).status).toBe(200);

        compileAs(() => Promise.reject(new Error('no binary of esbuild for this machine')));
        await service.restartApi();
        const never = await ask('/');
        expect([never.status, never.headers.get('retry-after')]).toEqual([503, null]);
        expect(await never.text()).toContain('esbuild');
        expect((await ask('/api/health')).status).toBe(200);
      });
    });
  });
}
