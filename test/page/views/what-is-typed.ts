/** Late answers neither erase what a reader types nor navigate away. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CHAIN } from '../../api/running-service.ts';
import { withoutStream } from '../generic-check.ts';
import type { OpenedPage } from '../opened-page.ts';
import { openPage } from '../watched-page.ts';

export function whatIsTyped(opened: () => OpenedPage): void {
  describe('what is typed', () => {
    /** Delays the answers of a path. @returns a function that releases them */
    async function hold(page: Page, path: string): Promise<() => void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      await page.route(path, async (route) => {
        await promise;
        await route.continue();
      });
      return resolve;
    }

    async function openWithSearch(address: string, typed: string) {
      const tab = await openPage(opened().browser);
      await tab.page.goto(withoutStream(opened().service.url, address));
      await tab.page.locator('main[data-ready=true]').waitFor();
      const release = await hold(tab.page, '**/api/search/?*');
      const search = tab.page.getByRole('combobox', { name: 'Search' });
      await search.fill(typed);
      const asked = tab.page.waitForRequest('**/api/search/?*');
      await search.press('Enter');
      await asked;
      return { ...tab, search, release };
    }

    it('in the converter stays, with the focus, when the currencies arrive', async () => {
      const { service, browser } = opened();
      const { page, complaints, close } = await openPage(browser);
      const baskets = (await (await fetch(`${service.url}/api/market/baskets`)).json()) as {
        currencyId: string;
        name: string;
      }[];
      const [{ currencyId = '', name = '' } = {}] = baskets;
      const release = await hold(page, '**/api/market/baskets*');
      await page.goto(withoutStream(service.url, `/market/convert?from=${currencyId}&to=${currencyId}`));
      const [from, to] = [page.locator('#convert-from'), page.locator('#convert-to')];
      await expect.poll(() => to.inputValue()).toBe(currencyId);
      await from.fill('half a na');
      release();
      await expect.poll(() => to.inputValue()).toBe(name);
      await page.locator('main[data-view=convert][data-ready=true]').waitFor();
      expect(await from.inputValue()).toBe('half a na');
      expect(await from.evaluate((field) => field === document.activeElement)).toBe(true);
      expect(complaints).toEqual([]);
      await close();
    });

    it('in the search does not navigate once the reader has opened another view', async () => {
      const { page, complaints, release, close } = await openWithSearch('/market', 'alice@');
      await page.locator('nav a[href^="/market/convert"]').click();
      await page.locator('main[data-view=convert][data-ready=true]').waitFor();
      const answered = page.waitForResponse('**/api/search/?*');
      release();
      await (await answered).finished();
      await page.waitForLoadState('networkidle'); // a view opened by the late answer would send requests
      expect(new URL(page.url()).pathname).toBe('/market/convert');
      expect(complaints).toEqual([]);
      await close();
    });

    it('in the search opens no suggestions after Enter', async () => {
      const { service, browser } = opened();
      const { page, complaints, close } = await openPage(browser);
      await page.goto(withoutStream(service.url, '/market'));
      await page.locator('main[data-ready=true]').waitFor();
      const [releaseSuggestions, releaseResults] = [
        await hold(page, '**/api/search/suggest*'),
        await hold(page, '**/api/search/?*'),
      ];
      const search = page.getByRole('combobox', { name: 'Search' });
      const requested = page.waitForRequest('**/api/search/suggest*');
      await search.fill('alice');
      await requested;
      await search.press('Enter');
      const answered = page.waitForResponse('**/api/search/suggest*');
      releaseSuggestions();
      await (await answered).finished();
      const options = page.getByRole('listbox', { name: 'Suggestions', includeHidden: true }).locator('[role=option]');
      await options.first().waitFor({ state: 'attached' });
      expect(await options.first().isVisible()).toBe(false);
      await search.fill('alic');
      await options.first().waitFor();
      releaseResults();
      expect(complaints).toEqual([]);
      await close();
    });

    it('in the search navigates once, however often Enter is pressed', async () => {
      const { page, complaints, search, release, close } = await openWithSearch('/market', 'alice@');
      await search.press('Enter');
      const steps = () => page.evaluate(() => history.length);
      const before = await steps();
      release();
      await page.locator('main[data-view=identity][data-ready=true]').waitFor();
      expect(new URL(page.url()).pathname).toContain(`/${CHAIN}/identity/`);
      expect(await steps()).toBe(before + 1);
      expect(complaints).toEqual([]);
      await close();
    });
  });
}
