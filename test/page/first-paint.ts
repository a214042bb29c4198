/** The cost of a view's first paint, and the layout shift afterwards. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { createRandom } from '../../recordings/player/faults.ts';
import { SEED } from '../setup/seed.ts';
import { openPage, type PageSession, type WatchedPage } from './watched-page.ts';

const MOST_FILES = 8;
const MOST_CREDITS = 8;
const MOST_CREDITS_LIVE = 4;
const MOST_SHIFT = 0.05;
/** At this width the connection is slow: answers arrive in any order, also after parts of the view were painted. */
const NARROW = 360;
const WIDTHS = [1440, NARROW];
const LATE_MS = [0, 1_100, 1_400, 1_700];

/** A document of the same origin that sends no requests; it replaces the previous document. */
const WITHOUT_SCRIPT = '/api/health';

/**
 * Five seconds after the start the page checks whether the index stands still: not part of a first paint, although late answers may come
 * later.
 */
const READINESS = '/api/health/ready';

/** Concurrent tabs: each mostly waits for answers and layout shifts. */
const TABS = 3;

/** Checks, wide and narrow: files of the page including the document, credits of its calls and of the stream, layout shift. */
export async function checkFirstPaint(
  browser: Browser,
  base: string,
  addresses: readonly string[],
  reader?: PageSession,
): Promise<void> {
  const random = createRandom(SEED);
  const late = () => LATE_MS[Math.floor(random() * LATE_MS.length)] ?? 0;
  const left = addresses.flatMap((address) =>
    WIDTHS.map((width) => ({ address, width, lateMs: width === NARROW ? late : null })),
  );
  const checkPaints = async () => {
    const tab = await openPage(browser, {}, reader);
    for (let next = left.shift(); next; next = left.shift()) {
      await forgetAll(tab.page, base);
      await checkAt(tab, base, next);
    }
    await tab.close();
  };
  await Promise.all(Array.from({ length: Math.min(TABS, left.length) }, checkPaints));
}

/** Resets the tab to a first visit; a new tab would be a new browser process. */
async function forgetAll(page: Page, base: string): Promise<void> {
  await page.goto(`${base}${WITHOUT_SCRIPT}`);
  const session = await page.context().newCDPSession(page);
  await session.send('Storage.clearDataForOrigin', { origin: base, storageTypes: 'all' });
  await session.send('Network.clearBrowserCache');
  await session.detach();
}

interface Painted {
  readonly address: string;
  readonly width: number;
  /** Returns the delay of the next answer in milliseconds. */
  readonly lateMs: (() => number) | null;
}

async function checkAt({ page, requests: all }: WatchedPage, base: string, { address, width, lateMs }: Painted) {
  await page.setViewportSize({ width, height: 900 });
  const before = all.length;
  const delays: number[] = [];
  if (lateMs) {
    await page.route('**/api/**', async (route) => {
      const delay = lateMs();
      delays.push(delay);
      await sleep(delay);
      await route.continue();
    });
  }
  await page.goto(`${base}${address}`);
  await page.locator('main[data-ready="true"]').waitFor();
  const requests = all.slice(before);
  const files = requests.filter((request) => /\/assets\/|text\/html/.test(`${request.url()}${request.resourceType()}`));
  const calls = requests.filter((request) => {
    const { pathname } = new URL(request.url());
    return pathname.startsWith('/api/') && (pathname !== READINESS || address === '/status');
  });
  const answers = await Promise.all(calls.map((request) => request.response()));
  const costs = answers.map((answer) => Number(answer?.headers()['x-credits-cost'] ?? 1));
  const credits = costs.reduce((sum, each) => sum + each, 0) + 1;
  await page.waitForLoadState('networkidle'); // names arrive after their rows
  const shift = await layoutShift(page);
  const figures = `${files.length} files, ${calls.length} calls, ${credits} credits, shift ${shift.toFixed(4)}`;
  console.log(`page: ${width} px ${address} ${figures}${lateMs ? `, answers late by ${delays.join(', ')} ms` : ''}`);
  expect(files.length, address).toBeLessThanOrEqual(MOST_FILES);
  expect(credits, address).toBeLessThanOrEqual(address === '/' ? MOST_CREDITS_LIVE : MOST_CREDITS);
  expect(shift, `${address} ${delays.join()}`).toBeLessThanOrEqual(MOST_SHIFT);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
}

/** The sum of all shifts, which is at least that of the worst five-second window. */
function layoutShift(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const sum = (entries: PerformanceEntryList) =>
          entries.reduce((all, entry) => all + ((entry as PerformanceEntry & { value: number }).value ?? 0), 0);
        const observer = new PerformanceObserver((list) => resolve(sum(list.getEntries())));
        observer.observe({ type: 'layout-shift', buffered: true });
        setTimeout(() => resolve(sum(observer.takeRecords())), 250); // nothing has moved
      }),
  );
}
