/** Identities that do not fit into one answer: their updates are paged, and a refused part leaves the rest of the view usable. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MOST_ROWS } from '../../../api/state/measured-rows.ts';
import { nameToAddress } from '../../../domain/names.ts';
import { FIRST, insertUpdates } from '../../api/made-updates.ts';
import { ALICE, CHAIN, type RunningService } from '../../api/running-service.ts';
import { checkFirstPaint } from '../first-paint.ts';
import { checkPanels, checkView, withoutStream } from '../generic-check.ts';
import type { OpenedPage } from '../opened-page.ts';
import { openPage } from '../watched-page.ts';

const UPDATES = MOST_ROWS + 1;
const PAGE_SIZE = 200;
/** Deepest row that a numbered page can reach. */
const DEEPEST_ROW = 10_000;
const PAGES = Math.ceil(UPDATES / PAGE_SIZE);

export function longIdentities(opened: () => OpenedPage): void {
  describe('an identity that does not fit into one answer', () => {
    const identity = nameToAddress('often@', 'VRSCTEST') ?? '';
    const deep = nameToAddress('oftener@', 'VRSCTEST') ?? '';
    const address = `/${CHAIN}/identity/${identity}`;
    let service: RunningService;
    let browser: Browser;

    beforeAll(async () => {
      ({ service, browser } = opened());
      await insertUpdates(service.stores.postgres.pool, identity, 1, UPDATES);
    });

    afterAll(() =>
      service?.stores.postgres.pool.query('DELETE FROM identities WHERE identity_address = ANY($1)', [
        [identity, deep],
      ]),
    );

    it('lists its updates page by page, and the newest ones as stops of the slider', async () => {
      const { page, complaints, close } = await openPage(browser);
      const { pointers } = await checkView(page, service.url, address, 'identity');
      expect([...pointers]).toContain(`/api/identity/${identity}/changes /results/${PAGE_SIZE - 1}/height`);
      const slider = page.getByRole('slider', { name: 'Height' });
      const blocks = Math.floor(UPDATES / 10) - Math.floor((UPDATES - PAGE_SIZE + 1) / 10) + 1;
      expect(await slider.getAttribute('max')).toBe(String(blocks));
      const height = page.getByRole('region', { name: 'Height' });
      await height.getByText(`now · ${UPDATES.toLocaleString('en-US')} updates before`).waitFor();
      await height.getByText(`The stops are the newest ${PAGE_SIZE} updates`).waitFor();
      const asked = await page
        .locator('section[data-src*="/changes"] .menu a', { hasText: 'JSON' })
        .getAttribute('href');
      expect(asked).toContain(`pageSize=${PAGE_SIZE}`);

      await page.getByRole('link', { name: 'Next page' }).click();
      await page.locator('main[data-ready=true] [data-src*="page=2"] [data-item]').first().waitFor();
      await checkPanels(page, service.url, `${address}?page=2`);
      expect(await slider.getAttribute('max')).toBe(String(blocks));
      await checkView(page, service.url, `${address}?page=${PAGES}`, 'identity');
      expect(await page.locator('.updates > [data-item]').count()).toBe(UPDATES - (PAGES - 1) * PAGE_SIZE);
      expect(await page.getByRole('link', { name: 'Next page' }).count()).toBe(0);

      await page.getByRole('button', { name: 'Show this state' }).click();
      await page.locator(`[data-src*="height=${FIRST}"]`).first().waitFor();
      expect(await slider.getAttribute('aria-valuetext')).toBe(`${FIRST}, before these updates`);
      expect(complaints).toEqual([]);
      await close();
    });

    it('stays within the budget of a first paint', async () => {
      await checkFirstPaint(browser, service.url, [address, `${address}?page=2`]);
    });

    it('has numbered pages as far as the API has them, then refers to the cursor', async () => {
      await insertUpdates(service.stores.postgres.pool, deep, 1, DEEPEST_ROW + 1);
      const { page, complaints, close } = await openPage(browser);
      await page.goto(withoutStream(service.url, `/${CHAIN}/identity/${deep}?page=${DEEPEST_ROW / PAGE_SIZE}`));
      const pager = page.getByRole('navigation', { name: 'Pages' });
      await pager.getByText('The rest is in the API, by cursor.').waitFor();
      expect(await pager.getByRole('link').allTextContents()).toEqual(['Previous page']);
      expect(complaints).toEqual([]);
      await close();
    });

    it('is complete except for its referrals when these are too many', async () => {
      const { page, complaints, close } = await openPage(browser);
      await page.route('**/api/identity/*/referrals*', (route) =>
        route.fulfill({
          status: 400,
          contentType: 'application/problem+json',
          body: JSON.stringify({ code: 'answer_too_large', detail: 'an answer names at most 20000 identities' }),
        }),
      );
      await page.goto(withoutStream(service.url, `/${CHAIN}/identity/${ALICE}?tab=referrals`));
      await page.locator('main[data-view=identity][data-ready=true]').waitFor();
      await page.locator('[role=alert][data-code=answer_too_large]').first().waitFor();
      await page.getByRole('slider', { name: 'Height' }).waitFor();
      expect(complaints).toEqual([]);
      await close();
    });
  });
}
