/**
 * Scenarios of a chain that advances and reorganises under open tabs, and of a tab that slept. PAGE_WAITS=1 waits instead of moving the
 * clock.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHAIN, NATIVE, type RunningService, USDX } from '../../api/running-service.ts';
import { StreamReader } from '../../api/stream-reader.ts';
import { recordedBranches } from '../../laws/chain-records.ts';
import type { Opened } from '../opened-page.ts';
import { startScriptedStream } from '../scripted-stream.ts';
import { laneOf, marksOf, streamIs, watchStream } from '../stream-marks.ts';
import { openPage, type WatchedPage } from '../watched-page.ts';

const WAITS = process.env.PAGE_WAITS === '1';
const HIDDEN_MS = 90_000;

export function movingChain(opened: () => Opened): void {
  describe('a moving chain', () => {
    const { main, orphans, fork } = recordedBranches();
    let service: RunningService;
    let browser: Browser;

    beforeAll(() => {
      ({ service, browser } = opened());
    });

    async function tab(address: string, prepare?: (page: Page) => Promise<void>): Promise<WatchedPage> {
      const watched = await openPage(browser);
      await watchStream(watched.page);
      await prepare?.(watched.page);
      await watched.page.goto(`${service.url}${address}`);
      await watched.page.locator('main[data-ready="true"]').waitFor();
      await streamIs(watched.page, 'live');
      return watched;
    }

    /** Tips in the stream's greeting: the stream learns of a block after the stores. */
    async function greeting(): Promise<unknown> {
      const reader = new StreamReader(Number(new URL(service.url).port));
      const { chains } = await reader.next();
      reader.socket.close();
      return chains;
    }

    async function step(until: () => boolean): Promise<void> {
      while (!until()) {
        service.node.step();
        await service.settled();
      }
    }

    const standing = async (page: Page) => (await laneOf(page, CHAIN)).filter(({ state }) => state === 'standing');
    const newest = async (page: Page) => (await standing(page))[0]?.hash;
    const pulse = async () => {
      const answer = await fetch(`${service.url}/api/stats/pulse`);
      const { blocks } = (await answer.json()) as { blocks: { height: number; hash: string }[] };
      return blocks.map(({ height, hash }) => ({ height, hash, state: 'standing' }));
    };

    it('scenario 1: shows the blocks that a reorganisation reverted, in the lane and in open views', async () => {
      const live = await tab('/');
      await step(() => service.node.height === fork + orphans.length - 1);
      const [lost] = orphans;
      const { transactions } = (await (await fetch(`${service.url}/api/blocks/${lost?.height}`)).json()) as {
        transactions: { txid: string }[];
      };
      const block = await tab(`/${CHAIN}/block/${lost?.height}`);
      const transaction = await tab(`/${CHAIN}/tx/${transactions[0]?.txid}`);
      const panel = block.page.locator('section[data-src]').first();
      expect(await block.page.locator('[data-testid=taken-back]').count()).toBe(0);

      await step(() => service.node.height === fork + orphans.length); // the views would be refreshed only after 30 s
      await expect.poll(() => newest(live.page)).toBe(orphans.at(-1)?.hash);
      service.node.step();
      await service.settled();
      const before = Date.now();
      await expect.poll(() => newest(live.page)).toBe(service.node.hash);
      const undone = (await laneOf(live.page, CHAIN)).filter(({ state }) => state === 'undone');
      expect(undone.map(({ height, hash }) => ({ height, hash })).reverse()).toEqual(
        orphans.map(({ height, hash }) => ({ height, hash })),
      );
      await expect.poll(() => standing(live.page)).toEqual(await pulse());

      for (const { page } of [block, transaction]) {
        const banner = page.locator('main [data-testid=taken-back]');
        await banner.waitFor();
        expect(await banner.textContent()).toContain(`above ${fork} of ${CHAIN}, ${orphans.length} deep`);
      }
      // The view is read again at once, and still reports that its block was reverted.
      await expect
        .poll(() => panel.locator('[data-field="/hash"]').getAttribute('data-value'))
        .toBe(main[lost?.height ?? 0]?.hash);
      expect(Date.now() - before).toBeLessThan(25_000);
      const banner = block.page.locator('main [data-testid=taken-back]');
      await expect.poll(() => banner.textContent()).toContain('was read after that');
      await transaction.page.locator('[role=alert][data-code="not_found"]').first().waitFor();
      expect(await transaction.page.locator('main [data-testid=taken-back]').count()).toBe(1);

      const links = live.page.getByRole('list', { name: `Blocks of ${CHAIN}` }).locator('[data-state=undone] a');
      const hrefs = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
      expect(hrefs.reverse()).toEqual(orphans.map(({ hash }) => `/${CHAIN}/block/${hash}`));
      await links.last().click();
      await live.page.locator('main[data-view=block][data-ready=true] [data-testid=taken-back]').waitFor();
      const removed = live.page.locator('[data-field="/hash"]').first();
      expect(await removed.getAttribute('data-value')).toBe(lost?.hash);
      for (const { complaints, close } of [live, block, transaction]) {
        expect(complaints).toEqual([]);
        await close();
      }
    });

    it('requests answers once more that are older than the first block of its stream', async () => {
      const tip = { height: service.node.height + 1, hash: 'f'.repeat(64) };
      const stream = await startScriptedStream(service.url, { [CHAIN]: tip });
      const { page, complaints, requests, close } = await openPage(browser);
      const asked = () => requests.filter((request) => new URL(request.url()).pathname === '/api/stats/pulse').length;
      await page.route('**/api/stats/pulse*', async (route) => {
        await expect.poll(() => stream.readers).toBe(1);
        await route.continue();
      });
      await page.goto(stream.url);
      await expect.poll(asked).toBe(2);
      await page.locator('main[data-view=live][data-ready=true]').waitFor();
      await page.waitForLoadState('networkidle');
      expect(asked()).toBe(2); // the service is still behind the greeting
      expect(complaints).toEqual([]);
      await close();
      stream.stop();
    });

    it('drops news that may no longer hold once the stream has lost its place, and says so', async () => {
      const stream = await startScriptedStream(service.url);
      const { page, complaints, close } = await openPage(browser);
      await page.goto(stream.url);
      await streamIs(page, 'live');
      const news = page.getByRole('region', { name: 'As it comes' }).locator('li');
      const ids = { fromCurrencyId: NATIVE, toCurrencyId: USDX };
      const row = {
        txid: 'a'.repeat(64),
        vout: 0,
        height: 7,
        status: 'pending',
        amountIn: 12_345_678_901.123_457,
        ...ids,
      };
      const price = { currencyId: USDX, height: 7, usdPrice: 1, provisional: true };
      stream.send([
        { type: 'conversion', chain: CHAIN, data: row },
        { type: 'price', chain: CHAIN, data: price },
      ]);
      await expect.poll(() => news.count()).toBe(2);
      // A double keeps no satoshi of such an amount: none is made up.
      expect(await news.first().locator('data').textContent()).toBe('12,345,678,901.1235');
      const lost = { type: 'resync', chain: CHAIN, reason: 'cursor_expired', snapshot: '/api/stats/pulse', data: {} };
      stream.send([lost]);
      await expect.poll(() => news.count()).toBe(0);
      await page.getByRole('contentinfo').getByText('the place in the stream was no longer kept').waitFor();
      expect(complaints).toEqual([]);
      await close();
      stream.stop();
    });

    it('scenario 3: a hidden tab closes its stream, shows it, and catches up', async () => {
      const { page, complaints, close } = await tab('/', async (opening) => {
        if (!WAITS) await opening.clock.install();
      });
      const before = await laneOf(page, CHAIN);
      const cursor = await page.locator('main').getAttribute('data-cursor');
      await setHidden(page, true);
      if (WAITS) await sleep(HIDDEN_MS);
      else await page.clock.fastForward(HIDDEN_MS);
      await streamIs(page, 'offline');
      const { height } = service.node;
      await step(() => service.node.height === height + 5);
      await expect.poll(greeting).toMatchObject({ [CHAIN]: { height: height + 5 } });
      expect(await laneOf(page, CHAIN)).toEqual(before);
      await setHidden(page, false);
      await streamIs(page, 'live');
      if (!WAITS) await page.clock.fastForward(3_000);
      await page
        .getByRole('status', { name: 'Announcements' })
        .getByText('5 blocks caught up, nothing missed')
        .waitFor();
      await expect.poll(() => newest(page)).toBe(service.node.hash);
      await expect.poll(() => standing(page)).toEqual(await pulse());
      const { states } = await marksOf(page);
      expect(states.slice(-4)).toEqual(['live', 'offline', 'catching-up', 'live']);
      expect(await page.locator('main').getAttribute('data-cursor')).not.toBe(cursor);
      expect(complaints).toEqual([]);
      await close();
    });
  });
}

/** Simulates a tab in the background. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { get: () => hidden, configurable: true });
    Object.defineProperty(document, 'visibilityState', {
      get: () => (hidden ? 'hidden' : 'visible'),
      configurable: true,
    });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);
}
