/**
 * Scenario 4: more events than a person can read. PAGE_FLOOD_SECONDS sets the duration; PAGE_JUDGES_TIME=1 checks times as well, which mean
 * nothing on a machine that also runs other tests.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAIN } from '../../api/running-service.ts';
import { SEED } from '../../setup/seed.ts';
import { metricsOf, type TabMetrics } from '../browser-metrics.ts';
import { createFlood } from '../flood-events.ts';
import type { Opened } from '../opened-page.ts';
import { type ScriptedStream, startScriptedStream } from '../scripted-stream.ts';
import { streamIs } from '../stream-marks.ts';
import { openPage } from '../watched-page.ts';

const SECONDS = Number(process.env.PAGE_FLOOD_SECONDS ?? 40);
const JUDGES_TIME = process.env.PAGE_JUDGES_TIME === '1';
const PER_SECOND = 1_000;
const TICK_MS = 20;
/** Share of the duration after which all bounded lists are full. */
const WARM = 0.25;
const MOST_GROWTH = 1.1;
const LOOK_MS = 500;
const MOST_LOOKS = 20;
const MOST_TASK_MS = 100;
const MOST_CLICK_MS = 100;

declare global {
  interface Window {
    longTasks?: number[];
    clicks?: number[];
  }
}

export function floodedReader(opened: () => Opened): void {
  describe('a flood of events', () => {
    let stream: ScriptedStream;

    beforeAll(async () => {
      stream = await startScriptedStream(opened().service.url);
    });

    afterAll(() => stream?.stop());

    it(`scenario 4: ${PER_SECOND} events a second for ${SECONDS} s do not fill the memory (TEST_SEED=${SEED})`, async () => {
      const { page, complaints, close } = await openPage(opened().browser);
      await watchTimes(page);
      await page.goto(stream.url);
      await page.locator('main[data-view=live][data-ready=true]').waitFor();
      await expect.poll(() => stream.readers).toBe(1);
      const next = createFlood(CHAIN, SEED, opened().service.node.height);
      let sent = 0;
      /** Resolves when the page has read the events, since it lags behind on a busy machine. */
      async function flood(seconds: number): Promise<void> {
        const [began, before] = [performance.now(), sent];
        for (let passed = 0; passed < seconds; await sleep(TICK_MS)) {
          passed = Math.min(seconds, (performance.now() - began) / 1000);
          const due = before + Math.floor(passed * PER_SECOND) - sent;
          stream.send(next(due));
          sent += due;
        }
        await expect.poll(() => sequenceOf(page), { timeout: 60_000 }).toBeGreaterThanOrEqual(sent);
      }
      await flood(SECONDS * WARM);
      const warm = await standing(page);
      await flood(SECONDS * (1 - WARM));
      // Some memory is freed a moment later; a leak never is.
      const end = await standing(page);
      let kept = end;
      for (let looks = 0; looks < MOST_LOOKS && !isWithin(kept, warm); looks += 1) {
        await sleep(LOOK_MS);
        kept = await metricsOf(page);
      }
      const { longTasks, clicks } = await timesOf(page);
      const worst = { task: Math.max(0, ...longTasks), click: Math.max(0, ...clicks) };
      console.log(`page: ${sent} events in ${SECONDS} s: ${JSON.stringify({ warm, end, kept, ...worst })}`);
      await streamIs(page, 'live');
      expect(complaints).toEqual([]);
      expect(isWithin(kept, warm), JSON.stringify({ warm, kept })).toBe(true);
      if (JUDGES_TIME) {
        expect(worst.task).toBeLessThanOrEqual(MOST_TASK_MS);
        expect(worst.click).toBeLessThanOrEqual(MOST_CLICK_MS);
      }
      await close();
    });
  });
}

const isWithin = (held: TabMetrics, warm: TabMetrics) =>
  (['nodes', 'listeners', 'heapBytes'] as const).every((what) => held[what] <= warm[what] * MOST_GROWTH);

const sequenceOf = async (page: Page) => Number(await page.locator('main').getAttribute('data-seq'));

async function watchTimes(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const longTasks: number[] = [];
    const clicks: number[] = [];
    Object.assign(window, { longTasks, clicks });
    const into = (times: number[], type: RegExp) => (list: PerformanceObserverEntryList) => {
      for (const { name, duration } of list.getEntries()) if (type.test(name)) times.push(duration);
    };
    new PerformanceObserver(into(longTasks, /./)).observe({ type: 'longtask' });
    const events = { type: 'event', durationThreshold: 16 };
    new PerformanceObserver(into(clicks, /^click$/)).observe(events);
  });
}

const timesOf = (page: Page) =>
  page.evaluate(() => ({ longTasks: window.longTasks ?? [], clicks: window.clicks ?? [] }));

/** Measures after a click that changes all of the page; the garbage collection does not count as a long task of the page. */
async function standing(page: Page): Promise<TabMetrics> {
  for (const name of ['UTC', 'Local']) await page.getByRole('radio', { name }).click();
  const { longTasks } = await timesOf(page);
  const metrics = await metricsOf(page);
  await page.evaluate((before) => window.longTasks?.splice(before), longTasks.length);
  return metrics;
}
