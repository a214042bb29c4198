/** Scenario 12: files of views are gone after an upgrade of the service. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CHAIN } from '../../api/running-service.ts';
import { withoutStream } from '../generic-check.ts';
import type { Opened } from '../opened-page.ts';
import { openPage } from '../watched-page.ts';

const FILE = '**/assets/stakes-*.js';

export function upgradedService(opened: () => Opened): void {
  describe('a tab opened before an upgrade', () => {
    /**
     * Opens a view with a link to a view whose file is missing for its first `times` requests. @returns the number of documents loaded
     * since
     */
    async function open(page: Page, times: number): Promise<() => number> {
      let documents = 0;
      page.on('request', (request) => {
        if (request.isNavigationRequest()) documents += 1;
      });
      let left = times;
      await page.goto(withoutStream(opened().service.url, `/${CHAIN}`));
      await page.locator('main[data-view=chain][data-ready=true]').waitFor();
      await page.route(FILE, (route) => {
        left -= 1;
        return left >= 0 ? route.fulfill({ status: 404, body: '' }) : route.continue();
      });
      documents = 0;
      return () => documents;
    }

    const go = (page: Page) => page.locator(`main a[href^="/${CHAIN}/stakes"]`).first().click();

    async function visit(page: Page, times: number): Promise<() => number> {
      const documents = await open(page, times);
      await go(page);
      return documents;
    }

    it('scenario 12: reloads the document once, and shows the view', async () => {
      const { page, complaints, close } = await openPage(opened().browser);
      const documents = await visit(page, 1);
      await page.locator('main[data-view=stakes][data-ready=true]').waitFor();
      expect(documents()).toBe(1);
      expect(complaints).toEqual([]);
      await close();
    });

    it('scenario 12: does not reload when the reader has moved on meanwhile', async () => {
      const { page, complaints, close } = await openPage(opened().browser);
      const documents = await open(page, 1);
      const looked = Promise.withResolvers<void>();
      const gone = Promise.withResolvers<void>();
      await page.route(`**/${CHAIN}/stakes*`, async (route) => {
        looked.resolve();
        await gone.promise;
        await route.continue();
      });
      await go(page);
      await looked.promise;
      await page.locator('nav a[href="/market"]').click();
      await page.locator('main[data-view=market][data-ready=true]').waitFor();
      const answered = page.waitForResponse((response) => response.request().method() === 'HEAD');
      gone.resolve();
      await answered;
      await page.evaluate(() => fetch(location.href, { method: 'HEAD' })); // the page has received its answer before this one
      expect(documents()).toBe(0);
      expect(await page.locator('main').getAttribute('data-view')).toBe('market');
      expect(complaints).toEqual([]);
      await close();
    });

    it('scenario 12: reports a file that is still missing, and does not reload the document twice', async () => {
      const { page, complaints, close } = await openPage(opened().browser);
      const documents = await visit(page, Number.POSITIVE_INFINITY);
      await page.locator('main[data-view=stakes][data-ready=failed] [role=alert][data-code=file_missing]').waitFor();
      expect(documents()).toBe(1);
      await page.locator('nav a[href="/market"]').click();
      await page.locator('main[data-view=market][data-ready=true]').waitFor();
      expect(documents()).toBe(1);
      expect(complaints).toEqual([]);
      await close();
    });

    it('scenario 12: opens views where site data are blocked, and does not reload the document for a missing file', async () => {
      const { page, complaints, close } = await openPage(opened().browser);
      await page.addInitScript(() => {
        const get = () => {
          throw new DOMException('Access is denied for this document.', 'SecurityError');
        };
        for (const storage of ['sessionStorage', 'localStorage']) Object.defineProperty(window, storage, { get });
      });
      const documents = await visit(page, 1);
      await page.locator('main[data-view=stakes][data-ready=failed] [role=alert][data-code=file_missing]').waitFor();
      expect(documents()).toBe(0);
      await page.getByRole('button', { name: 'Load the page again' }).click();
      await page.locator('main[data-view=stakes][data-ready=true]').waitFor();
      expect(complaints).toEqual([]);
      await close();
    });
  });
}
