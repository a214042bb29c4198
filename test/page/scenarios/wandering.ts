/** Scenario 13: a reader who follows links for hours in one tab. PAGE_NAVIGATIONS sets the number of links. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../recordings/player/faults.ts';
import { SEED } from '../../setup/seed.ts';
import { metricsOf, type TabMetrics } from '../browser-metrics.ts';
import type { Opened } from '../opened-page.ts';
import { openPage } from '../watched-page.ts';

const NAVIGATIONS = Number(process.env.PAGE_NAVIGATIONS ?? 150);
/** By then every kind of view has been shown, and the caches are full. */
const WARM = Math.floor(NAVIGATIONS / 3);
/** The caches of answers and names are bounded, not constant. */
const MOST_GROWTH = 1.25;
const LOOK_MS = 500;
const MOST_LOOKS = 20;

export function wanderingReader(opened: () => Opened): void {
  describe('a wandering reader', () => {
    it(`scenario 13: follows ${NAVIGATIONS} links at random (TEST_SEED=${SEED}), and nothing grows`, async () => {
      const { service, browser } = opened();
      const { page, complaints, requests, close } = await openPage(browser);
      const random = createRandom(SEED);
      let sockets = 0;
      page.on('websocket', () => {
        sockets += 1;
      });
      await page.goto(service.url);
      const views = new Set<string>();
      const documents = requests.length;
      let warm = await standing(page);
      for (let count = 0; count < NAVIGATIONS; count += 1) {
        if (count === WARM) warm = await standing(page);
        views.add(await follow(page, random()));
      }
      // Some memory is freed a moment later; a leak never is.
      const end = await standing(page);
      let kept = end;
      for (let looks = 0; looks < MOST_LOOKS && !isWithin(kept, warm); looks += 1) {
        await sleep(LOOK_MS);
        kept = await metricsOf(page);
      }
      console.log(`page: ${NAVIGATIONS} navigations over ${views.size} views: ${JSON.stringify({ warm, end, kept })}`);
      expect(views.size).toBeGreaterThan(10);
      expect(complaints).toEqual([]);
      expect(sockets).toBe(1);
      expect(requests.slice(documents).filter((request) => request.isNavigationRequest())).toEqual([]);
      expect(isWithin(kept, warm), JSON.stringify({ warm, kept })).toBe(true);
      await close();
    });
  });
}

const isWithin = (held: TabMetrics, warm: TabMetrics) =>
  (['nodes', 'listeners'] as const).every((what) => held[what] <= warm[what] * MOST_GROWTH);

const ready = (page: Page) => page.locator('main[data-ready]').waitFor();

/** Measures on the same view each time. */
async function standing(page: Page) {
  await page.locator('nav a[href="/"]').first().click();
  await page.locator('main[data-view=live][data-ready=true]').waitFor();
  return metricsOf(page);
}

/** @param draw chooses the link, in [0, 1). @returns the view that the link leads to */
async function follow(page: Page, draw: number): Promise<string> {
  await page.locator('a[href]').evaluateAll((links, drawn) => {
    const inner = (links as HTMLAnchorElement[]).filter(
      ({ pathname, hash, download }) =>
        !/^\/(api|assets|rpc|metrics)\b/.test(pathname) && hash === '' && download === '',
    );
    inner[Math.floor(drawn * inner.length)]?.click();
  }, draw);
  await ready(page);
  return String(await page.locator('main').getAttribute('data-view'));
}
