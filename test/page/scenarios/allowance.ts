/**
 * Scenario 5: another client of the same address uses up the allowance. PAGE_WAITS=1 waits for the minute instead of moving the page's
 * clock.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RunningApi } from '../../../api/server.ts';
import { CHAIN } from '../../api/running-service.ts';
import { withoutStream } from '../generic-check.ts';
import type { Opened } from '../opened-page.ts';
import { openPage } from '../watched-page.ts';

const WAITS = process.env.PAGE_WAITS === '1';
/** The default limits of the service. */
const LIMITS = {
  keylessRequestsPerMinute: 100,
  tiers: { free: { creditsPerMinute: 60 }, developer: { creditsPerMinute: 150 }, pro: { creditsPerMinute: 500 } },
  trustedProxies: ['127.0.0.1'],
};
/** Its own address, because every API of the service counts the requests that other tests send from theirs. */
const CALLER = { 'X-Forwarded-For': '203.0.113.5' };

export function usedUpAllowance(opened: () => Opened): void {
  describe('an allowance that is used up', () => {
    let api: RunningApi;
    let base = '';

    beforeAll(async () => {
      api = await opened().service.startAnother({ limits: LIMITS });
      base = `http://127.0.0.1:${api.port}`;
      await vi.waitFor(async () => expect((await fetch(base)).status).toBe(200), { timeout: 60_000 }); // once the page is compiled; the document costs nothing
    });

    afterAll(() => api?.close());

    /** Uses up the allowance as another client of the same address. */
    async function useUp(): Promise<void> {
      for (let asked = 0; asked <= LIMITS.keylessRequestsPerMinute; asked += 1) {
        if ((await fetch(`${base}/api/health`, { headers: CALLER })).status === 429) return;
      }
      throw new Error('the allowance has no end');
    }

    it('scenario 5: keeps what is shown, counts down, and retries by itself', async () => {
      const { page, complaints, close } = await openPage(opened().browser, { extraHTTPHeaders: CALLER });
      if (!WAITS) await page.clock.install();
      await page.goto(withoutStream(base, `/${CHAIN}/blocks`));
      await page.locator('main[data-view=blocks][data-ready=true]').waitFor();
      await page.waitForLoadState('networkidle'); // names arrive after their rows
      const rows = page.locator('tr[data-item]');
      const shown = await rows.allInnerTexts();
      await useUp();

      await page.locator('section[data-src] .menu summary').first().click();
      await page.getByRole('button', { name: 'Refresh' }).click();
      const alert = page.locator('[role=alert][data-code=rate_limited]').first();
      await alert.waitFor();
      expect(await rows.allInnerTexts()).toEqual(shown);
      expect(await page.locator('main').getAttribute('data-ready')).toBe('true');

      const refused = page.waitForResponse((response) => response.status() === 429);
      const clicked = performance.now();
      await page.locator('nav a[href="/market"]').click();
      const seconds = Number(await (await refused).headerValue('Retry-After'));
      await page.locator('main[data-view=market][data-ready=limited]').waitFor();
      const countdown = Number(await alert.locator('[data-derived=countdown]').textContent());
      expect(seconds).toBeGreaterThan(0);
      const passed = (performance.now() - clicked) / 1000;
      expect(countdown).toBeLessThanOrEqual(seconds + 1);
      expect(countdown).toBeGreaterThanOrEqual(seconds - passed - 1);
      // A screen reader reads an alert again whenever its text changes, and must not count along.
      const read = () =>
        alert.evaluate((element) => {
          const copy = element.cloneNode(true) as Element;
          for (const unread of copy.querySelectorAll('[aria-hidden=true]')) unread.remove();
          return copy.textContent;
        });
      const before = await read();
      if (!WAITS) await page.clock.fastForward(2_000);
      await expect
        .poll(async () => Number(await alert.locator('[data-derived=countdown]').textContent()))
        .toBeLessThan(countdown);
      expect(await read()).toBe(before);

      if (!WAITS) {
        // For the page the service's minute must be over too: another API of the service answers from here on.
        await page.route('**/api/**', async (route) => {
          const { pathname, search } = new URL(route.request().url());
          await route.fulfill({ response: await route.fetch({ url: `${opened().service.url}${pathname}${search}` }) });
        });
        await page.clock.fastForward(seconds * 1000 + 500);
      }
      await page.locator('main[data-view=market][data-ready=true]').waitFor({ timeout: 90_000 });
      expect(await page.locator('[role=alert]').count()).toBe(0);
      expect(complaints).toEqual([]);
      await close();
    });
  });
}
