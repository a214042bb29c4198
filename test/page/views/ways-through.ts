/** The ways through the page: back to where the reader was, by the keyboard, and out of an address that names no page of a list. */
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHAIN, type RunningService } from '../../api/running-service.ts';
import { withoutStream } from '../generic-check.ts';
import type { OpenedPage } from '../opened-page.ts';
import { openPage } from '../watched-page.ts';

export function waysThrough(opened: () => OpenedPage): void {
  describe('the ways through the page', () => {
    let service: RunningService;
    let browser: Browser;

    beforeAll(() => {
      ({ service, browser } = opened());
    });

    it('lead back to the row that the reader left', async () => {
      const { page, complaints, close } = await openPage(browser);
      await page.goto(withoutStream(service.url, `/${CHAIN}/blocks`));
      await page.locator('main[data-view=blocks][data-ready=true]').waitFor();
      const row = page.locator('tr[data-item]').last();
      await row.scrollIntoViewIfNeeded();
      const top = await page.evaluate(() => scrollY);
      expect(top).toBeGreaterThan(500);
      const isThere = () => expect.poll(() => page.evaluate(() => scrollY)).toBe(top);
      await row.getByRole('link').first().click();
      await page.locator('main[data-view=block][data-ready=true]').waitFor();
      expect(await page.evaluate(() => scrollY)).toBe(0);
      await page.goBack();
      await page.locator('main[data-view=blocks][data-ready=true]').waitFor();
      await isThere();
      await page.reload();
      await page.locator('main[data-view=blocks][data-ready=true]').waitFor();
      await isThere();
      expect(complaints).toEqual([]);
      await close();
    });

    it('by single keys are listed, can be switched off for good, and do not leave a dialog', async () => {
      const { page, complaints, close } = await openPage(browser);
      const isFocused = () => page.evaluate(() => document.activeElement?.id === 'search');
      const press = async (keys: readonly string[]) => {
        await page.locator('h1').focus();
        for (const key of keys) await page.keyboard.press(key);
      };
      await page.goto(withoutStream(service.url, `/${CHAIN}/blocks`));
      await page.locator('main[data-view=blocks][data-ready=true]').waitFor();
      await page.evaluate(() => {
        const dialog = document.createElement('dialog');
        dialog.tabIndex = -1;
        document.body.append(dialog);
        dialog.showModal();
      });
      for (const key of ['g', 'm']) await page.keyboard.press(key);
      await page.evaluate(() => document.querySelector('dialog')?.remove());
      expect(new URL(page.url()).pathname).toBe(`/${CHAIN}/blocks`);

      await press(['g', 'm']);
      await page.locator('main[data-view=market][data-ready=true]').waitFor();
      await page.getByText('Keyboard', { exact: true }).click();
      await page.getByRole('contentinfo').getByText('Search, also').waitFor();
      await page.getByRole('checkbox', { name: 'Shortcuts of single keys' }).uncheck();
      await page.reload();
      await page.locator('main[data-view=market][data-ready=true]').waitFor();
      await press(['g', 'c', '/']);
      expect([await isFocused(), new URL(page.url()).pathname]).toEqual([false, '/market']);
      await press(['Control+k']);
      expect(await isFocused()).toBe(true);
      expect(complaints).toEqual([]);
      await close();
    });

    it('begin with tables that fit into the columns of a laptop', async () => {
      const { page, complaints, close } = await openPage(browser, { viewport: { width: 1280, height: 900 } });
      await page.route('**/api/market/overview*', async (route) => {
        const response = await route.fetch();
        const overview = (await response.json()) as { topBaskets: object[] };
        const row = { name: 'Bridge.pchain', chain: 'vrsctest', tvl: 29_594.23, volume24h: 14_843.58 };
        const topBaskets = overview.topBaskets.map((basket) => ({ ...basket, ...row }));
        await route.fulfill({ response, json: { ...overview, topBaskets } });
      });
      await page.goto(withoutStream(service.url, '/'));
      await page.locator('main[data-view=live][data-ready=true]').waitFor();
      await page.getByText('14,843.58').first().waitFor();
      for (const width of [1280, 1366, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        const hidden = await page
          .locator('.columns .scroll')
          .evaluateAll((tables) => tables.map((table) => table.scrollWidth - table.clientWidth));
        expect(Math.max(...hidden), String(width)).toBeLessThanOrEqual(1); // of a fraction of a pixel
      }
      expect(complaints).toEqual([]);
      await close();
    });

    it('lead out of pages that a list does not have', async () => {
      const { page, complaints, close } = await openPage(browser);
      const first = page.getByRole('link', { name: 'First page' });
      for (const place of ['page=9999', 'page=0', 'page=x', 'cursor=x']) {
        await page.goto(withoutStream(service.url, `/${CHAIN}/blocks?validationType=stake&${place}`));
        await page.locator('main[data-view=blocks][data-ready=failed]').waitFor();
        await first.click();
        await page.locator('main[data-view=blocks][data-ready=true] tr[data-item]').first().waitFor();
        const { searchParams } = new URL(page.url());
        expect([searchParams.get('validationType'), searchParams.get('page'), searchParams.get('cursor')]).toEqual([
          'stake',
          null,
          null,
        ]);
      }
      await page.goto(withoutStream(service.url, `/${CHAIN}/blocks?page=150`));
      await page.locator('main[data-view=blocks][data-ready=true]').waitFor();
      await page.getByRole('link', { name: 'Previous page' }).click(); // to the last page
      await page.locator('main[data-view=blocks][data-ready=true] tr[data-item]').first().waitFor();
      expect(complaints).toEqual([]);
      await close();
    });
  });
}
