/** Buttons report the outcome of their action, and stay where they are. */
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHAIN, type RunningService } from '../../api/running-service.ts';
import { withoutStream } from '../generic-check.ts';
import type { OpenedPage } from '../opened-page.ts';
import { openPage } from '../watched-page.ts';

export function buttons(opened: () => OpenedPage): void {
  describe('buttons', () => {
    let service: RunningService;
    let browser: Browser;

    beforeAll(() => {
      ({ service, browser } = opened());
    });

    it('that copy report a missing clipboard, as over plain HTTP', async () => {
      const { page, complaints, close } = await openPage(browser);
      await page.addInitScript(() => Object.defineProperty(Navigator.prototype, 'clipboard', { get: () => undefined }));
      await page.clock.install();
      await page.goto(withoutStream(service.url, `/${CHAIN}/blocks`));
      await page.locator('main[data-ready=true]').waitFor();
      await page.clock.pauseAt(Date.now() + 3_600_000); // the message would disappear after a moment
      const copy = page.locator('.menu button[aria-label="Copy as curl"]').first();
      await copy.evaluate((button: HTMLElement) => button.click());
      await expect.poll(() => copy.textContent()).toBe('The browser did not allow it');
      // The button keeps its name, so the outcome is announced beside it.
      expect(await page.locator('.menu button[aria-label="Copy as curl"] + [role=status]').first().textContent()).toBe(
        'The browser did not allow it',
      );
      expect(complaints).toEqual([]);
      await close();
    });

    it('that copy a program keep a name that looks like a number', async () => {
      const { page, close } = await openPage(browser, { permissions: ['clipboard-read', 'clipboard-write'] });
      await page.goto(withoutStream(service.url, `/${CHAIN}/identity/007`));
      await page.locator('main[data-ready=not-found]').waitFor();
      await page.locator('.menu summary').first().click();
      await page.getByRole('button', { name: 'Copy as TypeScript' }).first().click();
      await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('nameOrId: "007"');
      await close();
    });

    it('for the direction of trades keep the focus, and stay when the request is refused', async () => {
      const pairs = (await (await fetch(`${service.url}/api/market/pairs`)).json()) as {
        basketId: string;
        baseId: string;
        quoteId: string;
      }[];
      const [{ basketId, baseId, quoteId } = { basketId: '', baseId: '', quoteId: '' }] = pairs;
      const { page, complaints, close } = await openPage(browser);
      await page.goto(withoutStream(service.url, `/market/pair/${basketId}/${baseId}/${quoteId}`));
      await page.locator(`[data-src*="from=${baseId}"]`).waitFor();
      const [sold, bought] = [0, 1].map((index) => page.locator('.choices button').nth(index));
      const isPressed = () => bought?.getAttribute('aria-pressed');
      await bought?.focus();
      await page.keyboard.press('Enter');
      await page.locator(`[data-src*="from=${quoteId}"]`).waitFor();
      expect([await isPressed(), await bought?.evaluate((button) => button === document.activeElement)]).toEqual([
        'true',
        true,
      ]);

      await sold?.click();
      await page.locator(`[data-src*="from=${baseId}"]`).waitFor();
      await page.goto(page.url());
      await page.locator(`[data-src*="from=${baseId}"]`).waitFor();
      await page.route(`**/api/conversions/?*from=${quoteId}*`, (route) =>
        route.fulfill({
          status: 429,
          headers: { 'Retry-After': '600' },
          contentType: 'application/problem+json',
          body: JSON.stringify({ code: 'rate_limited', detail: 'the allowance is used up' }),
        }),
      );
      await bought?.click();
      await page.locator('[role=alert][data-code=rate_limited]').waitFor();
      await sold?.click();
      await page.locator(`[data-src*="from=${baseId}"]`).waitFor();
      expect(await page.locator('[role=alert]').count()).toBe(0);
      expect(complaints).toEqual([]);
      await close();
    });
  });
}
