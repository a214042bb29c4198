/** Charts that are loaded when they become visible, and filtered lists. */
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { ALICE, CHAIN, type RunningService } from '../../api/running-service.ts';
import { checkAccessibility } from '../accessibility.ts';
import { checkFirstPaint } from '../first-paint.ts';
import { checkPanels, checkView, type ViewAddress, withoutStream } from '../generic-check.ts';
import type { OpenedPage } from '../opened-page.ts';
import { openPage } from '../watched-page.ts';

const METRICS = ['stakingSupply', 'stakers', 'hashrate', 'blockTime', 'transactions', 'identities'];

export function chartsAndFilters(opened: () => OpenedPage): void {
  describe('charts and filters', () => {
    let service: RunningService;
    let browser: Browser;
    const views: readonly ViewAddress[] = [
      ['address', `/${CHAIN}/address/${ALICE}?tab=balance`],
      ['blocks', `/${CHAIN}/blocks?validationType=stake`],
      ['search', '/search?q=alise@'],
      ['chain', `/${CHAIN}`],
    ];

    beforeAll(() => {
      ({ service, browser } = opened());
    });

    it('show the answers of the API within the budgets', async () => {
      const { page, complaints, close } = await openPage(browser);
      for (const [view, address] of views) await checkView(page, service.url, address, view);
      const addresses = views.map(([, address]) => address);
      await checkFirstPaint(browser, service.url, addresses);
      expect(complaints).toEqual([]);
      await close();
    });

    it('load a chart of a chain when it becomes visible, and by hour on demand', async () => {
      const { page, complaints, requests, close } = await openPage(browser);
      const asked = () =>
        requests.map((request) => new URL(request.url())).filter(({ pathname }) => pathname === '/api/stats/charts');
      await page.goto(withoutStream(service.url, `/${CHAIN}`));
      await page.locator('main[data-ready=true]').waitFor();
      expect(asked()).toEqual([]);
      for (const [index, metric] of METRICS.entries()) {
        const frames = page.locator('[data-waits], figure.chart');
        await frames.nth(index).scrollIntoViewIfNeeded();
        await page.locator(`[data-src*="metric=${metric}&"] figure[data-points]`).waitFor();
      }
      expect(new Set(asked().map(({ searchParams }) => searchParams.get('metric')))).toEqual(new Set(METRICS));
      const folder = process.env.SCREENSHOTS;
      if (folder) await page.screenshot({ path: `${folder}/chain-charts.png`, fullPage: true });
      const buttons = page.getByRole('button', { name: 'Show the numbers' });
      while ((await buttons.count()) > 0) await buttons.first().click();
      await checkPanels(page, service.url, `/${CHAIN}`);
      const top = await page.evaluate(() => scrollY);
      await page.getByRole('link', { name: '7 days by hour' }).click();
      await page.locator('[data-src*="step=hour"] figure[data-points]').first().waitFor();
      expect(await page.evaluate(() => scrollY)).toBeGreaterThan(top / 2);
      await checkPanels(page, service.url, `/${CHAIN}`);
      expect(complaints).toEqual([]);
      await close();
    });

    it('show a balance by day, of each currency', async () => {
      const { page, close } = await openPage(browser);
      await page.goto(withoutStream(service.url, views[0]?.[1] ?? ''));
      await page.locator('figure[data-points]').waitFor();
      const select = page.getByLabel('currency', { exact: true });
      const currency = (await select.locator('option').allInnerTexts()).find((name) => !/native|VRSCTEST$/.test(name));
      expect(currency).toBeDefined();
      await select.selectOption(currency ?? '');
      await page.locator(`[data-src*="currency=${currency}"] figure[data-points]`).waitFor();
      await page.getByRole('button', { name: 'Show the numbers' }).click();
      await checkPanels(page, service.url, String(currency));
      await close();
    });

    it('name currencies as the chain does', async () => {
      const { page, close } = await openPage(browser);
      await page.route('**/balance?*', async (route) => {
        const response = await route.fetch();
        const answer = (await response.json()) as { balances: object[] };
        const balances = answer.balances.map((row) => ({ ...row, currencyName: 'my_own\u200Btoken' }));
        await route.fulfill({ response, json: { ...answer, balances: balances.slice(0, 1) } });
      });
      await page.goto(withoutStream(service.url, views[0]?.[1] ?? ''));
      const named = page.getByLabel('currency', { exact: true }).locator('option').last();
      await expect.poll(() => named.textContent()).toBe('my_own\\u200Btoken');
      expect(await named.getAttribute('value')).toBe('my_own\u200Btoken');
      await close();
    });

    it('filter blocks by work or stake', async () => {
      const { page, close } = await openPage(browser);
      await page.goto(withoutStream(service.url, `/${CHAIN}/blocks`));
      await page.locator('main[data-ready=true]').waitFor();
      for (const type of ['stake', 'work']) {
        await page.getByLabel('validationType').selectOption(type);
        await page.locator(`[data-src*="validationType=${type}"] [data-item]`).first().waitFor();
        expect(new URL(page.url()).searchParams.get('validationType')).toBe(type);
        const types = await page
          .locator('[data-field$="/validationType"]')
          .evaluateAll((all) => [...new Set(all.map((one) => one.getAttribute('data-value')))]);
        expect(types).toEqual([type]);
      }
      await close();
    });

    it('suggest a similar name for a misspelt one', async () => {
      const { page, close } = await openPage(browser);
      await page.goto(`${service.url}/`);
      await page.locator('main[data-ready=true]').waitFor();
      await page.getByRole('combobox', { name: 'Search' }).fill('alise@');
      await page.keyboard.press('Enter');
      await page.locator('main[data-view=search][data-ready=true]').waitFor();
      await page.getByRole('link', { name: 'alice.VRSCTEST@' }).click();
      await page.locator('main[data-view=identity][data-ready=true]').waitFor();
      await close();
    });

    it('are accessible in both themes, narrow and wide', async () => {
      await checkAccessibility(browser, service.url, views);
    });
  });
}
