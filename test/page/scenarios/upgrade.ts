/** Scenario 12: files of views that are gone after an upgrade of the service. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CHAIN } from '../../api/running-service.ts';
import { withoutStream } from '../generic-check.ts';
import type { Opened } from '../opened-page.ts';
import { openPage } from '../watched-page.ts';

const FILE = '**/assets/stakes-*.js';

export function upgradedService(opened: () => Opened): void {
  describe('a tab of before an upgrade', () => {
    /** Leads to a view whose file is missing as often as `times` says. @returns how many documents were loaded */
    async function visit(page: Page, times: number): Promise<() => number> {
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
      await page.locator(`main a[href^="/${CHAIN}/stakes"]`).first().click();
      return () => documents;
    }

    it('scenario 12: loads the document again once, and has the view', async () => {
      const { page, complaints, close } = await openPage(opened().browser);
      const documents = await visit(page, 1);
      await page.locator('main[data-view=stakes][data-ready=true]').waitFor();
      expect(documents()).toBe(1);
      expect(complaints).toEqual([]);
      await close();
    });

    it('scenario 12: says that the file is missing where it still is, and does not load the document twice', async () => {
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
  });
}
