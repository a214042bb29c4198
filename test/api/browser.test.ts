/**
 * The service in a browser: the documentation page, and pages of other origins that send requests. SCREENSHOT names a file for a
 * screenshot of the page.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reservePort } from '../support/infra/reserved-port.ts';
import { startBrowser, whyNoBrowser } from './browser.ts';
import { CHAIN, type RunningService, startService } from './running-service.ts';
import type { LooseJson } from './truth.ts';

const START = 830;
/** Above it the recorded chain reorganises. */
const END = 844;

if (whyNoBrowser) it('a browser', ({ skip }) => skip(String(whyNoBrowser)));

describe.skipIf(whyNoBrowser !== null)('in a browser', () => {
  let service: RunningService;
  let browser: Browser;

  beforeAll(async () => {
    service = await startService({ startHeight: START });
    browser = await startBrowser();
    await service.settled(true);
  });

  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  describe('the documentation page', () => {
    let page: Page;
    const asked: string[] = [];
    const complaints: string[] = [];

    beforeAll(async () => {
      page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
      page.on('request', (request) => asked.push(request.url()));
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(String(error)));
      await page.goto(`${service.url}/api/docs`);
      await page.locator('.opblock').first().waitFor();
      if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });
    });

    it('shows each operation under its group, without errors and warnings', async () => {
      const document: LooseJson = await (await fetch(`${service.url}/api/openapi.json`)).json();
      const operations = Object.entries<object>(document.paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      );
      const blocks = await page.locator('.opblock').all();
      const shown = await Promise.all(
        blocks.map(async (block) => {
          const method = await block.locator('.opblock-summary-method').textContent();
          return `${method} ${await block.locator('.opblock-summary-path').getAttribute('data-path')}`;
        }),
      );
      expect(shown.sort()).toEqual(operations.sort());
      const groups = Object.values<object>(document.paths).flatMap((methods) =>
        Object.values<LooseJson>(methods).flatMap(({ tags }) => tags),
      );
      const headings = await page.locator('.opblock-tag').evaluateAll((tags) => tags.map((tag) => tag.dataset.tag));
      expect(headings).toEqual([...new Set(groups)]);
      expect(complaints).toEqual([]);
    });

    it('sends a request and shows the answer', async () => {
      const operation = page.locator('.opblock', { has: page.locator('[data-path="/api/blocks/{height}"]') });
      await operation.locator('.opblock-summary').click();
      await operation.getByRole('button', { name: 'Try it out' }).click();
      await operation.getByRole('row', { name: 'height' }).getByRole('textbox').fill('500');
      await operation.getByRole('button', { name: 'Execute' }).click();
      const answer = operation.locator('.live-responses-table');
      await answer.waitFor();
      const block: LooseJson = await (await fetch(`${service.url}/api/blocks/500`)).json();
      expect(await answer.locator('.response .response-col_status').textContent()).toContain('200');
      expect(await answer.locator('.response .response-col_description').textContent()).toContain(block.hash);
      expect(complaints).toEqual([]);
    });

    it('contacts no other host', () => {
      expect(asked.length).toBeGreaterThan(4);
      expect(asked.filter((url) => !url.startsWith(`${service.url}/`) && !url.startsWith('data:'))).toEqual([]);
    });
  });

  describe('a page of another origin', () => {
    let site: Server;
    let page: Page;

    beforeAll(async () => {
      site = createServer((_request, response) =>
        response.setHeader('Content-Type', 'text/html').end('<!doctype html>'),
      );
      await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
      page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    });

    afterAll(() => new Promise((resolve) => site.close(resolve)));

    it('reads REST answers with a key, and the headers that it needs', async () => {
      const key = await service.issueKey('pro');
      const answered = await page.evaluate(
        async ([url, token]) => {
          const answer = await fetch(`${url}/api/blocks/500`, { headers: { Authorization: `Bearer ${token}` } });
          const names = ['ETag', 'X-Request-Id', 'X-Chain-State', 'X-RateLimit-Remaining', 'X-Credits-Cost'];
          const missing = names.filter((name) => answer.headers.get(name) === null);
          return { status: answer.status, missing, height: ((await answer.json()) as LooseJson).height };
        },
        [service.url, key] as const,
      );
      expect(answered).toEqual({ status: 200, missing: [], height: 500 });
    });

    it('reads why it was refused', async () => {
      const refused = await page.evaluate(async (url) => {
        const answer = await fetch(`${url}/api/blocks/900000`, { headers: { 'X-API-Key': 'no such key' } });
        return { status: answer.status, code: ((await answer.json()) as LooseJson).code };
      }, service.url);
      expect(refused).toEqual({ status: 401, code: 'key_invalid' });
    });

    it('calls JSON-RPC', async () => {
      const result = await page.evaluate(async (url) => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getblockhash', params: [500] });
        const answer = await fetch(`${url}/rpc/vrsc`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body,
        });
        return answer.json();
      }, service.url);
      expect(result).toMatchObject({ id: 1, error: null, result: expect.stringMatching(/^[0-9a-f]{64}$/) });
    });

    it('receives every block once by EventSource, which reconnects by itself after the server has ended', async () => {
      const { port } = await reservePort();
      let api = await service.startAnother({ port });
      await page.evaluate((url) => {
        const heard: string[] = [];
        const source = new EventSource(`${url}/api/stream?channels=blocks`);
        for (const type of ['hello', 'block']) {
          source.addEventListener(type, (event) => heard.push((event as MessageEvent).data));
        }
        Object.assign(globalThis, { heard });
      }, `http://127.0.0.1:${port}`);
      const heard = async (type: string): Promise<LooseJson[]> => {
        const texts = await page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard);
        return texts.map((text) => JSON.parse(text)).filter((message: LooseJson) => message.type === type);
      };
      const heights = async () => (await heard('block')).map(({ data }) => data.height);
      const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

      await expect.poll(async () => (await heard('hello')).length).toBe(1);
      const first = (await heard('hello'))[0].chains[CHAIN].height + 1;
      service.node.advanceTo(START + 5);
      await expect.poll(heights).toEqual(from(first, START + 5));
      await api.close();
      service.node.advanceTo(END);
      await service.settled();
      api = await service.startAnother({ port });
      await expect.poll(heights).toEqual(from(first, END));
      expect((await heard('hello')).length).toBe(2);
      await api.close();
    });

    it('opens the WebSocket', async () => {
      const hello = await page.evaluate(
        (url) =>
          new Promise<string>((resolve, reject) => {
            const socket = new WebSocket(url);
            socket.onmessage = ({ data }) => resolve(data);
            socket.onerror = () => reject(new Error('no connection'));
          }),
        `ws://127.0.0.1:${service.port}/api/ws`,
      );
      expect(JSON.parse(hello)).toMatchObject({ type: 'hello', version: 1 });
    });
  });
});
