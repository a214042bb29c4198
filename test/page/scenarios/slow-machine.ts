/**
 * Times on a processor that is slowed down four times. They are printed, and checked with PAGE_JUDGES_TIME=1 (`npm run soak -- page`), since
 * they mean nothing while other tests run.
 */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CHAIN } from '../../api/running-service.ts';
import type { Opened } from '../opened-page.ts';
import { openPage } from '../watched-page.ts';

const JUDGES_TIME = process.env.PAGE_JUDGES_TIME === '1';
const SLOWER = 4;
/** Milliseconds. */
const BUDGETS = { interactive: 1_000, largestPaint: 1_200, view: 1_500, keptView: 300, interaction: 200 };
const VIEWS = [`/${CHAIN}`, '/market', `/${CHAIN}/identities`, '/market/conversions'];

type Times = Record<keyof typeof BUDGETS, number>;

declare global {
  interface Window {
    paints?: { largest: number; interactions: number[] };
  }
}

export function slowMachine(opened: () => Opened): void {
  describe('a processor slowed to a quarter of its speed', () => {
    it('paints and answers within the budgets', async () => {
      const { service, browser } = opened();
      const { page, complaints, close } = await openPage(browser);
      await watchPaints(page);
      const session = await page.context().newCDPSession(page);
      await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
      await page.goto(service.url);
      await page.locator('main[data-view=live][data-ready=true]').waitFor();
      const interactive = await page.evaluate(() => performance.now());
      await page.waitForLoadState('networkidle'); // nothing larger is painted afterwards
      const largestPaint = await page.evaluate(() => window.paints?.largest ?? Number.NaN);

      const firsts: number[] = [];
      for (const address of VIEWS) firsts.push(await visit(page, address));
      await page.waitForLoadState('networkidle');
      const again: number[] = [];
      for (const address of VIEWS) again.push(await visit(page, address));

      await page.getByRole('button', { name: 'Pause live updates' }).click();
      for (const name of ['UTC', 'Dark', 'Local', 'System']) await page.getByRole('radio', { name }).click();
      await page.locator('section[data-src] .menu summary').first().click();
      await page.getByRole('combobox', { name: 'Search' }).pressSequentially('alice@');
      const interactions = await page.evaluate(() => window.paints?.interactions ?? []);

      const times: Times = {
        interactive,
        largestPaint,
        view: Math.max(...firsts),
        keptView: Math.max(...again),
        interaction: Math.max(0, ...interactions),
      };
      for (const [name, ms] of Object.entries(times) as [keyof Times, number][]) {
        console.log(`page: processor ÷ ${SLOWER}, ${name}: ${Math.round(ms)} ms of ${BUDGETS[name]}`);
        expect(ms, name).toBeGreaterThanOrEqual(0);
        if (JUDGES_TIME) expect(ms, name).toBeLessThanOrEqual(BUDGETS[name]);
      }
      expect(complaints).toEqual([]);
      await close();
    });
  });
}

async function watchPaints(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const paints = { largest: Number.NaN, interactions: [] as number[] };
    window.paints = paints;
    new PerformanceObserver((list) => {
      paints.largest = list.getEntries().at(-1)?.startTime ?? paints.largest;
    }).observe({ type: 'largest-contentful-paint', buffered: true });
    const events = { type: 'event', durationThreshold: 16 };
    new PerformanceObserver((list) => {
      for (const { name, duration } of list.getEntries()) {
        if (/^(click|keydown|pointerup)$/.test(name)) paints.interactions.push(duration);
      }
    }).observe(events);
  });
}

/** Opens the view by a link. @returns milliseconds until its first paint is complete */
function visit(page: Page, address: string): Promise<number> {
  return page.evaluate(async (href) => {
    const link = document.createElement('a');
    link.href = href;
    document.body.append(link);
    const before = document.querySelector('main');
    const started = performance.now();
    link.click();
    link.remove();
    const isThere = () => {
      const main = document.querySelector('main[data-ready="true"]:not(.unpainted)');
      return main !== null && main !== before;
    };
    do await new Promise((resolve) => requestAnimationFrame(resolve));
    while (!isThere());
    return performance.now() - started;
  }, address);
}
